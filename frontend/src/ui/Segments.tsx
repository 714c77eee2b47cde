/** A choice among a few options, all of them in view. */

import { RadioGroup } from "radix-ui";
import type { ReactNode } from "react";

interface Props<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; name: ReactNode; disabled?: boolean }[];
  onChange: (value: V) => void;
}

/** One of a few, all of them in view. */
export function Segments<V extends string>({ label, value, options, onChange }: Props<V>) {
  return (
    <RadioGroup.Root
      className="segments"
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as V)}
    >
      {options.map((option) => (
        <RadioGroup.Item key={option.value} value={option.value} disabled={option.disabled ?? false}>
          {option.name}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

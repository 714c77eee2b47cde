/** An on and off switch with its label. */

import { Switch as Radix } from "radix-ui";

interface Props {
  label: string;
  on: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

/** On or off, at once; the label says of what. */
export function Switch({ label, on, disabled = false, onChange }: Props) {
  return (
    <Radix.Root className="switch" aria-label={label} checked={on} disabled={disabled} onCheckedChange={onChange} />
  );
}

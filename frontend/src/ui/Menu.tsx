/** The menu behind a button: entries, separators, dangerous entries. */

import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

import { useMenuFocus } from "./dialogFocus";

export interface MenuEntry {
  name: ReactNode;
  onSelect: () => void;
  disabled?: boolean;
  danger?: boolean;
  /** A line above it. */
  apart?: boolean;
}

interface Props {
  /** The button that opens it. */
  trigger: ReactNode;
  entries: readonly MenuEntry[];
  align?: "start" | "end";
}

/** What else can be done with a thing. */
export function Menu({ trigger, entries, align = "end" }: Props) {
  const focus = useMenuFocus();
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} sideOffset={4} collisionPadding={8} {...focus}>
          {entries.map((entry, index) => (
            <div key={index} role="none">
              {entry.apart && <hr />}
              <DropdownMenu.Item
                disabled={entry.disabled ?? false}
                onSelect={entry.onSelect}
                className={entry.danger ? "error-text" : ""}
              >
                {entry.name}
              </DropdownMenu.Item>
            </div>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

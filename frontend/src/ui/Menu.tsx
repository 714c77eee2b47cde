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
  onOpen?: () => void;
}

interface AtProps {
  /** Where it opens, in pixels of the window. */
  at: { x: number; y: number };
  entries: readonly MenuEntry[];
  onClose: () => void;
}

/** A menu that a right click or a key opened. */
export function MenuAt({ at, entries, onClose }: AtProps) {
  const place = { position: "fixed" as const, left: at.x, top: at.y };
  return (
    <DropdownMenu.Root modal={false} open onOpenChange={(open) => !open && onClose()}>
      <DropdownMenu.Trigger asChild>
        <span style={place} tabIndex={-1} />
      </DropdownMenu.Trigger>
      <Entries entries={entries} align="start" />
    </DropdownMenu.Root>
  );
}

/** What else can be done with a thing. */
export function Menu({ trigger, entries, align = "end", onOpen }: Props) {
  return (
    <DropdownMenu.Root modal={false} onOpenChange={(open) => open && onOpen?.()}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <Entries entries={entries} align={align} />
    </DropdownMenu.Root>
  );
}

function Entries({ entries, align }: { entries: readonly MenuEntry[]; align: "start" | "end" }) {
  const focus = useMenuFocus();
  return (
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
  );
}

/** Tabs: views of one thing, one at a time. */

import { Tabs } from "radix-ui";
import type { ReactNode } from "react";

interface Props {
  label: string;
  value: string;
  tabs: readonly { value: string; name: ReactNode; content: ReactNode }[];
  onChange: (value: string) => void;
}

/** Views of one thing, one at a time. */
export function TabBar({ label, value, tabs, onChange }: Props) {
  return (
    <Tabs.Root value={value} onValueChange={onChange}>
      <Tabs.List className="tabs" aria-label={label}>
        {tabs.map((tab) => (
          <Tabs.Trigger key={tab.value} value={tab.value}>
            {tab.name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Content key={tab.value} value={tab.value} tabIndex={-1}>
          {tab.content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}

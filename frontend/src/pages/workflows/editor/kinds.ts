/** The types of steps as the host describes them: their groups in the palette (Do, Decide, Wait, Desktop), icons,
 * search, and names shown on steps. */

import { useMemo } from "react";

import { useOperation } from "../../../api/hooks";
import type { NodeTypeShown } from "../../../api/types";
import type { IconName } from "../../../ui/Icon";
import { unnumbered } from "../graph/commands";
import type { Step } from "../graph/file";
import { closesGroup, type Kind, type Kinds } from "../graph/kinds";
import { toolLabel } from "../settings/toolSearch";
import { PALETTE } from "../text/editor";

export function useKinds(): { kinds: Kinds | null; error: Error | null; refetch: () => unknown } {
  const { data, error, refetch } = useOperation("workflow_node_types", {});
  const kinds = useMemo(() => (data ? new Map(data.map((one) => [one.name, kindOf(one)])) : null), [data]);
  return { kinds, error, refetch };
}

/** Sentences without the marks of code, which the page shows as text. */
function kindOf(shown: NodeTypeShown): Kind {
  return { ...shown, about: shown.about.replaceAll("`", "") };
}

type PaletteGroup = keyof typeof PALETTE.groups;

const GROUPS: Record<Kind["group"], PaletteGroup> = {
  tools: "do",
  ai: "do",
  data: "do",
  control: "decide",
  user: "wait",
  desktop: "desktop",
};

/** Where a type does not belong to the group of its kind. */
const PLACED: Record<string, PaletteGroup> = { Wait: "wait", SubWorkflow: "do" };

const ICONS: Record<string, IconName> = {
  If: "branch",
  Switch: "fork",
  Loop: "again",
  Map: "activity",
  AskUser: "eye",
  Wait: "clock",
  SubWorkflow: "workflows",
  Set: "settings",
  Code: "activity",
  FindText: "search",
  Click: "play",
  TypeText: "activity",
  FocusWindow: "servers",
  ListWindows: "servers",
};

const GROUP_ICONS: Record<Kind["group"], IconName> = {
  tools: "tools",
  ai: "chat",
  data: "settings",
  control: "branch",
  user: "eye",
  desktop: "picture",
};

export function iconOf(kind: Kind): IconName {
  return ICONS[kind.name] ?? GROUP_ICONS[kind.group];
}

/** Ends come with their beginnings and are not added alone. */
function isOffered(kind: Kind): boolean {
  return !kind.name.startsWith("End");
}

export interface KindGroupShown {
  name: PaletteGroup;
  kinds: Kind[];
}

/** The palette's groups, with the kinds that match the words. */
export function offeredKinds(kinds: Kinds, words: string): KindGroupShown[] {
  const wanted = words.trim().toLowerCase();
  const fits = (kind: Kind) => `${kind.title} ${kind.name} ${kind.about}`.toLowerCase().includes(wanted);
  const found = [...kinds.values()].filter((kind) => isOffered(kind) && fits(kind));
  const names = Object.keys(PALETTE.groups) as PaletteGroup[];
  return names
    .map((name) => ({ name, kinds: found.filter((kind) => (PLACED[kind.name] ?? GROUPS[kind.group]) === name) }))
    .filter((group) => group.kinds.length > 0);
}

/** What stands beside the name of a step: what it is, unless the name says that already. */
export function kindBeside(step: Step, kinds: Kinds): string {
  const text = kindText(step, kinds);
  return unnumbered(step.name) === text ? "" : text;
}

/** What stands above the name of a step on the canvas: what it is, or its group if the name says that already. */
export function kindAbove(step: Step, kinds: Kinds): string {
  const kind = kinds.get(step.type);
  const text = kindBeside(step, kinds);
  if (text || !kind || closesGroup(step)) return text;
  return PALETTE.groups[PLACED[kind.name] ?? GROUPS[kind.group]];
}

/** What a step is: its tool for a tool call, else its type. */
function kindText(step: Step, kinds: Kinds): string {
  const tool = step.settings["tool"];
  if (step.type === "McpToolCall" && typeof tool === "string" && tool) return toolLabel(tool);
  return kinds.get(step.type)?.title ?? step.type;
}

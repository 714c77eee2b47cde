/** The things that the search dialog (Ctrl K) can find: pages, servers, workflows, chats by title and text, settings,
 * tools, documentation, recent places; actions on servers, "Add a server", "New chat". */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { run } from "../api/client";
import { sentence } from "../api/errors";
import { useOperation, usePages } from "../api/hooks";
import type { ChatHit, ChatSummary, Server, ToolInfo, WorkflowSummary } from "../api/types";
import { plural } from "../ui/amounts";
import type { IconName } from "../ui/Icon";
import { MOD_ENTER } from "../ui/platform";
import { serverState } from "../ui/states";
import { needPath, needText, type Need } from "./needs";
import { notify } from "./notices";
import type { PaletteEntry, PaletteSources } from "./paletteEntries";
import { PLACES } from "./places";
import { recentModel, recentPaths } from "./recent";
import { navigate } from "./router";
import { switchTheme } from "./theme";

/** A page of the documentation that the host serves. */
interface DocsPage {
  title: string;
  path: string;
}

/** Everything for the text; `isLoading` until the first answers are there. */
export function usePaletteSources(text: string): PaletteSources & { isLoading: boolean } {
  const servers = useOperation("servers", {});
  const tools = usePages("tools", {}).data;
  const waiting = useOperation("waiting", {}).data;
  const workflows = useOperation("workflow_list", {});
  const chats = useOperation("chats", { limit: 200 });
  const settings = useQuery({ queryKey: ["palette settings"], queryFn: settingPlaces, staleTime: Infinity }).data;
  const docs = useQuery({ queryKey: ["palette docs"], queryFn: docsPages, staleTime: Infinity }).data;
  const model = useOperation("host_info", {}).data?.model;
  const further = useSearches(text);
  const sources = useMemo(
    () => ({
      needs: (waiting?.items ?? []).map(needPlace),
      goTo: [
        ...PLACES.map((place) => opening(place.icon, place.title, "page", place.path)),
        ...(servers.data ?? []).map(serverPlace),
        ...(workflows.data ?? []).map(workflowPlace),
        ...(chats.data?.chats ?? []).map(chatPlace),
        ...(settings ?? []),
        ...(tools ?? []).map(toolPlace),
        ...(docs ?? []).map(docsPlace),
      ],
      actions: [
        ...(servers.data ?? []).flatMap(actionsOf),
        go("plus", "Add a server", "paste anything", "/servers?add=1"),
        { ...go("plus", "Add an account", "mail, calendar, Discord, Canvas", "/settings?account=add"), quiet: true },
        go("chat", "New chat", "", "/chat/new"),
        { ...go("workflows", "New workflow", "draw it yourself", "/workflows?new=blank"), quiet: true },
        { ...go("workflows", "Describe a workflow", "a model drafts it", "/workflows?new=plan"), quiet: true },
        go("right", "Welcome", "repeat the first steps", "/welcome"),
        {
          group: "Actions" as const,
          name: "Switch theme",
          about: "light or dark",
          icon: "theme" as const,
          perform: switchTheme,
        },
      ],
      recent: recentPaths(),
      ask: (asked: string) => ({
        ...go(
          "chat",
          `Ask in a new chat: “${asked}”`,
          recentModel() || (model ?? ""),
          `/chat?ask=${encodeURIComponent(asked)}`,
        ),
        group: "Ask" as const,
        keys: MOD_ENTER,
      }),
    }),
    [servers.data, tools, waiting, workflows.data, chats.data, settings, docs, model],
  );
  return { ...sources, found: further, isLoading: servers.isPending || workflows.isPending || chats.isPending };
}

/** What the host finds in the text of chats, a moment after the last key. */
function useSearches(text: string): PaletteEntry[] {
  const words = useLater(text.trim());
  const asked = { enabled: words.length > 2, keepPrevious: true };
  const hits = useOperation("chats_search", { query: words, limit: 6 }, asked).data;
  return useMemo(() => (words.length > 2 ? (hits ?? []).map((hit) => hitPlace(hit, words)) : []), [words, hits]);
}

const PAUSE = 150;

function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}

/** The rows of Settings; their texts are loaded with the first search. */
async function settingPlaces(): Promise<PaletteEntry[]> {
  const { GROUPS, SECTION_KEYWORDS } = await import("../pages/settings/settingRows");
  const groups = Object.values(GROUPS);
  const titles = new Map<string, string>(groups.map((group) => [group.id, group.title]));
  const sections = new Map([
    ...titles,
    ...Object.keys(SECTION_KEYWORDS).map((id) => [id, titles.get(id) ?? capital(id)] as const),
  ]);
  return [
    ...groups.flatMap((group) =>
      group.rows.map((row) => found("settings", row.name, `setting · ${group.title}`, `/settings?setting=${row.key}`)),
    ),
    ...[...sections].map(([id, title]) => found("settings", title, "settings", `/settings?setting=${id}`)),
  ];
}

const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1);

function go(icon: IconName, name: string, about: string, path: string): PaletteEntry {
  return { ...opening(icon, name, about, path), group: "Actions" };
}

function opening(icon: IconName, name: string, about: string, path: string): PaletteEntry {
  return { group: "Go to", name, about, icon, path, perform: () => navigate(path) };
}

/** What is there in any number comes up when it is looked for. */
function found(icon: IconName, name: string, about: string, path: string): PaletteEntry {
  return { ...opening(icon, name, about, path), quiet: true };
}

function needPlace(need: Need): PaletteEntry {
  const { what, where } = needText(need);
  return { ...opening("right", what, where, needPath(need)), group: "Needs you", shape: "need" };
}

function serverPlace(server: Server): PaletteEntry {
  const path = `/servers/${encodeURIComponent(server.name)}`;
  return {
    ...found("servers", server.name, `server · ${plural(server.tools, "tool")}`, path),
    shape: serverState(server.state).shape,
    more: [...actionsOf(server).filter((entry) => !/^Open the log/.test(entry.name)), logOf(server)],
  };
}

function workflowPlace({ name, nodes }: WorkflowSummary): PaletteEntry {
  return found("workflows", name, `workflow · ${plural(nodes, "step")}`, `/workflows/${encodeURIComponent(name)}`);
}

function chatPlace(chat: ChatSummary): PaletteEntry {
  return found("chat", chat.title || "Untitled chat", "chat", `/chat/${encodeURIComponent(chat.id)}`);
}

function hitPlace({ chat, title, excerpt, position }: ChatHit, words: string): PaletteEntry {
  const about = excerpt ? `chat · ${excerpt.replaceAll(/\s+/g, " ")}` : "chat";
  const at = position === null ? "" : `?at=${position}&find=${encodeURIComponent(words)}`;
  return found("chat", title || "Untitled chat", about, `/chat/${encodeURIComponent(chat)}${at}`);
}

function toolPlace(tool: ToolInfo): PaletteEntry {
  const about = `tool · ${tool.server ?? "built in"}`;
  return found("tools", tool.original_name, about, `/tools?tool=${encodeURIComponent(tool.name)}`);
}

/** None if the documentation was not built. */
async function docsPages(): Promise<DocsPage[]> {
  const answer = await fetch("/docs/pages.json").catch(() => null);
  return answer?.ok ? ((await answer.json()) as DocsPage[]) : [];
}

function docsPlace({ title, path }: DocsPage): PaletteEntry {
  const address = `/docs/${path}`;
  return { ...found("right", title, "documentation", address), perform: () => location.assign(address) };
}

function logOf(server: Server): PaletteEntry {
  const path = `/servers/${encodeURIComponent(server.name)}?tab=log`;
  return {
    group: "Actions",
    name: `Open the log of ${server.name}`,
    about: "",
    icon: "activity",
    perform: () => navigate(path),
  };
}

const WAITS = /^needs-/;

/** The most useful actions for its state. What waits for the user is listed separately. */
function actionsOf(server: Server): PaletteEntry[] {
  const state = serverState(server.state, 0, secondsTo(server.retry_at), server.needs);
  const act = (name: string, about: string, perform: () => void): PaletteEntry => ({
    group: "Actions",
    name,
    about,
    shape: state.shape,
    perform,
  });
  if (server.state === "disabled")
    return [{ ...act(`Turn on ${server.name}`, state.word, () => turn(server, true)), quiet: true }];
  const off: PaletteEntry = {
    group: "Actions",
    name: `Turn off ${server.name}`,
    about: `removes ${plural(server.tools, "tool")}`,
    icon: "close",
    perform: () => turn(server, false),
    quiet: true,
  };
  if (WAITS.test(server.state)) return [off];
  const again = (name: string) => act(name, state.word, () => perform("restart", server.name));
  if (server.state === "backoff") return [again(`Try ${server.name} now`), { ...logOf(server), quiet: true }, off];
  if (server.state === "failed") return [again(`Try ${server.name} again`), { ...logOf(server), quiet: true }, off];
  return [{ ...again(`Restart ${server.name}`), quiet: true }, off];
}

function secondsTo(when: string | null): number | null {
  return when ? Math.max(0, Math.ceil((Date.parse(when) - Date.now()) / 1000)) : null;
}

function turn(server: Server, on: boolean): void {
  const put = (enable: boolean) => perform(enable ? "enable" : "disable", server.name);
  put(on);
  notify(on ? `Turned on “${server.name}”.` : `Turned off “${server.name}”.`, () => put(!on));
}

function perform(operation: "restart" | "enable" | "disable", name: string): void {
  run(operation, { name }).catch((error: unknown) => notify(sentence(error)));
}

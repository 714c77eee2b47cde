/** The things that the palette knows, from the states they are in now. */

import { useMemo } from "react";

import { run } from "../api/client";
import { sentence } from "../api/errors";
import { useOperation } from "../api/hooks";
import type { Server, ToolInfo } from "../api/types";
import { plural } from "../ui/amounts";
import { serverState } from "../ui/states";
import { needPath, needWords } from "./needs";
import { notify } from "./notices";
import type { PaletteEntry, PaletteSources } from "./paletteEntries";
import { PLACES } from "./places";
import { navigate } from "./router";
import { switchTheme } from "./theme";

export function usePaletteSources(): PaletteSources {
  const servers = useOperation("servers", {}).data;
  const tools = useOperation("tools", {}).data;
  const waiting = useOperation("waiting", {}).data;
  const model = useOperation("host_info", {}).data?.model;
  return useMemo(
    () => ({
      doNow: [
        ...(waiting?.items ?? []).map((need): PaletteEntry => {
          const words = needWords(need);
          return { group: "Do now", name: words.what, about: words.where, shape: "need", perform: () => navigate(needPath(need)) };
        }),
        ...(servers ?? []).flatMap(actionsOf),
        go("Do now", "Add a server", "paste anything", "/servers?add=1"),
        go("Do now", "New chat", "", "/chat"),
        go("Do now", "Welcome", "the first steps again", "/welcome"),
        { group: "Do now", name: "Switch theme", about: "light or dark", icon: "theme", perform: switchTheme },
      ],
      goTo: [
        ...PLACES.map((place): PaletteEntry => ({ group: "Go to", name: place.title, about: "page", icon: place.icon, perform: () => navigate(place.path) })),
        ...(servers ?? []).map(placeOf),
        ...(tools ?? []).map(toolPlace),
      ],
      ask: (text) => ({
        group: "Ask",
        name: `Ask in a new chat: “${text}”`,
        about: model ?? "",
        icon: "chat",
        keys: "⌘↵",
        perform: () => navigate(`/chat?ask=${encodeURIComponent(text)}`),
      }),
    }),
    [servers, tools, waiting, model],
  );
}

function go(group: "Do now" | "Go to", name: string, about: string, path: string): PaletteEntry {
  return { group, name, about, icon: "right", perform: () => navigate(path) };
}

function placeOf(server: Server): PaletteEntry {
  return {
    group: "Go to",
    name: server.name,
    about: `server · ${plural(server.tools, "tool")}`,
    shape: serverState(server.state).shape,
    perform: () => navigate(`/servers/${encodeURIComponent(server.name)}`),
    more: [...actionsOf(server), logOf(server)],
  };
}

function toolPlace(tool: ToolInfo): PaletteEntry {
  return {
    group: "Go to",
    name: tool.original_name,
    about: `tool · ${tool.server ?? "built in"}`,
    icon: "tools",
    perform: () => navigate(`/tools?tool=${encodeURIComponent(tool.name)}`),
  };
}

function logOf(server: Server): PaletteEntry {
  const path = `/servers/${encodeURIComponent(server.name)}?tab=log`;
  return { group: "Do now", name: `Open the log of ${server.name}`, about: "", icon: "activity", perform: () => navigate(path) };
}

/** What its state asks for first. */
function actionsOf(server: Server): PaletteEntry[] {
  const state = serverState(server.state, 0, secondsTo(server.retry_at));
  const entry = (name: string, about: string, operation: "restart" | "start" | "enable" | "disable"): PaletteEntry => ({
    group: "Do now",
    name,
    about,
    shape: state.shape,
    perform: () => perform(operation, server.name),
  });
  if (server.state === "disabled") return [entry(`Turn on ${server.name}`, state.word, "enable")];
  const { shape: _, ...leave } = entry(`Turn off ${server.name}`, `${plural(server.tools, "tool")} would leave`, "disable");
  const off: PaletteEntry = { ...leave, icon: "close" };
  if (server.state === "backoff") return [entry(`Try ${server.name} now`, state.word, "restart"), logOf(server), off];
  if (server.state === "failed") return [entry(`Try ${server.name} again`, state.word, "restart"), logOf(server), off];
  return [entry(`Restart ${server.name}`, state.word, "restart"), off];
}

function secondsTo(when: string | null): number | null {
  return when ? Math.max(0, Math.ceil((Date.parse(when) - Date.now()) / 1000)) : null;
}

function perform(operation: "restart" | "start" | "enable" | "disable", name: string): void {
  run(operation, { name }).catch((error: unknown) => notify(sentence(error)));
}

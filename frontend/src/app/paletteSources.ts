/** The things that the search dialog (Ctrl K) can find: actions on servers, "Add a server", "New chat", pages,
 * servers, workflows, tools; names, icons and targets of each. */

import { useMemo } from "react";

import { run } from "../api/client";
import { sentence } from "../api/errors";
import { useOperation, usePages } from "../api/hooks";
import type { Server, ToolInfo, WorkflowSummary } from "../api/types";
import { plural } from "../ui/amounts";
import type { IconName } from "../ui/Icon";
import { MOD_ENTER } from "../ui/platform";
import { serverState } from "../ui/states";
import { needPath, needText } from "./needs";
import { notify } from "./notices";
import type { PaletteEntry, PaletteSources } from "./paletteEntries";
import { PLACES } from "./places";
import { navigate } from "./router";
import { switchTheme } from "./theme";

export function usePaletteSources(): PaletteSources {
  const servers = useOperation("servers", {}).data;
  const tools = usePages("tools", {}).data;
  const waiting = useOperation("waiting", {}).data;
  const workflows = useOperation("workflow_list", {}).data;
  const model = useOperation("host_info", {}).data?.model;
  return useMemo(
    () => ({
      doNow: [
        ...(waiting?.items ?? []).map((need): PaletteEntry => {
          const words = needText(need);
          return {
            group: "Actions",
            name: words.what,
            about: words.where,
            shape: "need",
            perform: () => navigate(needPath(need)),
          };
        }),
        ...(servers ?? []).flatMap(actionsOf),
        go("plus", "Add a server", "paste anything", "/servers?add=1"),
        { ...go("plus", "Add an account", "mail, calendar, Discord, Canvas", "/settings?account=add"), quiet: true },
        go("chat", "New chat", "", "/chat"),
        { ...go("workflows", "New workflow", "draw it yourself", "/workflows?new=blank"), quiet: true },
        { ...go("workflows", "Describe a workflow", "a model drafts it", "/workflows?new=plan"), quiet: true },
        go("right", "Welcome", "repeat the first steps", "/welcome"),
        { group: "Actions", name: "Switch theme", about: "light or dark", icon: "theme", perform: switchTheme },
      ],
      goTo: [
        ...PLACES.map((place): PaletteEntry => ({
          group: "Go to",
          name: place.title,
          about: "page",
          icon: place.icon,
          perform: () => navigate(place.path),
        })),
        ...(servers ?? []).map(placeOf),
        ...(workflows ?? []).map(workflowPlace),
        ...(tools ?? []).map(toolPlace),
      ],
      ask: (text) => ({
        group: "Ask",
        name: `Ask in a new chat: “${text}”`,
        about: model ?? "",
        icon: "chat",
        keys: MOD_ENTER,
        perform: () => navigate(`/chat?ask=${encodeURIComponent(text)}`),
      }),
    }),
    [servers, tools, waiting, workflows, model],
  );
}

function go(icon: IconName, name: string, about: string, path: string): PaletteEntry {
  return { group: "Actions", name, about, icon, perform: () => navigate(path) };
}

function placeOf(server: Server): PaletteEntry {
  return {
    group: "Go to",
    name: server.name,
    about: `server · ${plural(server.tools, "tool")}`,
    shape: serverState(server.state).shape,
    perform: () => navigate(`/servers/${encodeURIComponent(server.name)}`),
    more: [...actionsOf(server).filter((entry) => !/^Open the log/.test(entry.name)), logOf(server)],
  };
}

function workflowPlace(workflow: WorkflowSummary): PaletteEntry {
  return {
    group: "Go to",
    name: workflow.name,
    about: `workflow · ${plural(workflow.nodes, "step")}`,
    icon: "workflows",
    perform: () => navigate(`/workflows/${encodeURIComponent(workflow.name)}`),
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

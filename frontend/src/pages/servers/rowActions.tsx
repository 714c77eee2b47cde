/** What the button of a server's row does, and the entries of the menu behind its dots. */

import { navigate } from "../../app/router";
import type { MenuEntry } from "../../ui/Menu";
import { forgetSetup, stopSetup } from "../add/setups";
import * as actions from "./actions";
import type { Open } from "./Dialogs";
import type { Row, Way } from "./model";

export function performWay(row: Row, way: Way, onOpen: (open: Open) => void): void {
  const { name, server } = row;
  switch (way) {
    case "review":
      return onOpen({ what: "review", name });
    case "sign-in":
      return onOpen({ what: "sign-in", name });
    case "value":
      return onOpen({ what: "value", name, missing: server?.missing ?? [] });
    case "difference":
      return navigate(`/servers/${encodeURIComponent(name)}?tab=tools`);
    case "try":
      return void actions.start(name);
    case "fix":
      return onOpen({ what: "edit", name });
    case "install":
      return onOpen({ what: "review", name });
    case "account":
    case "choice":
      return onOpen({ what: way, name });
    case "why":
      return onOpen({ what: "test", name, shown: true });
    case "cancel":
      return void stopSetup(name);
    case "log":
      return navigate(`/servers/${encodeURIComponent(name)}?tab=log`);
    case "on":
      return void (server?.enabled ? actions.start(name) : actions.turn(name, true));
  }
}

export function menuOf(row: Row, onOpen: (open: Open) => void): MenuEntry[] {
  const { name, server } = row;
  const address = `/servers/${encodeURIComponent(name)}`;
  if (!server) {
    return [
      { name: "Show progress", onSelect: () => onOpen({ what: "test", name, shown: true }) },
      row.setup?.installing
        ? { name: "Cancel", onSelect: () => void stopSetup(name) }
        : { name: "Remove", onSelect: () => forgetSetup(name), danger: true },
    ];
  }
  const runs =
    server.state === "ready" ||
    server.state === "degraded" ||
    server.state === "starting" ||
    server.state === "backoff";
  const remote = server.source.kind === "address";
  const waits = server.state === "needs-trust";
  return [
    { name: "Open", onSelect: () => navigate(address) },
    waits
      ? { name: "Review…", onSelect: () => onOpen({ what: "review", name }) }
      : { name: "Test connection", onSelect: () => onOpen({ what: "test", name }) },
    { name: "Open log", onSelect: () => navigate(`${address}?tab=log`) },
    { name: "Restart", onSelect: () => void actions.restart(name), disabled: !runs, apart: true },
    server.enabled
      ? { name: "Turn off", onSelect: () => void actions.turn(name, false) }
      : { name: "Turn on", onSelect: () => void actions.turn(name, true) },
    ...(remote
      ? [
          { name: "Sign in…", onSelect: () => onOpen({ what: "sign-in" as const, name }), disabled: waits },
          { name: "Sign out", onSelect: () => void actions.signOut(name) },
        ]
      : []),
    { name: "Edit as JSON…", onSelect: () => onOpen({ what: "edit", name }), apart: true },
    { name: "Remove", onSelect: () => void actions.remove(name), danger: true },
  ];
}

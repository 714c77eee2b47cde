/** Keys in the list of servers: j, k and arrows move, Enter opens, the dot opens the menu; other letters act on the
 * focused row. */

import { useEffect, useMemo, useRef } from "react";

import { useKeys, type Keys } from "../../app/keys";
import { navigate } from "../../app/router";

type RowAction = (name: string) => void;

const rows = () => [...document.querySelectorAll<HTMLElement>("[data-server]")];
const focused = () =>
  document.activeElement instanceof HTMLElement ? document.activeElement.closest<HTMLElement>("[data-server]") : null;

function move(step: number): void {
  const all = rows();
  const at = focused();
  const next = at ? all[all.indexOf(at) + step] : all[step > 0 ? 0 : all.length - 1];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** j and k go through the rows, Enter opens, the dot shows what else; the rest is for the row in focus. */
export function useRowKeys(actions: Record<string, RowAction>): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  const names = Object.keys(actions).join(" ");
  const keys = useMemo((): Keys => {
    const own = Object.fromEntries(
      names.split(" ").map((key) => [
        key,
        () => {
          const name = focused()?.dataset.server ?? rows()[0]?.dataset.server;
          if (name) latest.current[key]?.(name);
        },
      ]),
    );
    return {
      ...own,
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      ".": () => {
        const more = focused()?.querySelector<HTMLElement>("[data-more]");
        more?.focus();
        more?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      },
    };
  }, [names]);
  useKeys(keys);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.target instanceof HTMLElement)) return;
      const name = event.target.dataset.server;
      if (name) navigate(`/servers/${encodeURIComponent(name)}`);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
}

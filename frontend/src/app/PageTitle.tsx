/** The title of the browser's tab, which is read aloud once when another page is opened; remembers what was opened. */

import { useEffect, useEffectEvent, useState } from "react";

import { useOperation } from "../api/hooks";
import { keepRecent } from "./recent";
import { usePath } from "./router";
import { titleParts, useGivenTitle } from "./title";

// Milliseconds for the name of what is shown to arrive: as a rule, and of a chat, which comes from the host.
const SETTLING = 600;
const FETCHING = 10_000;

export function PageTitle() {
  const path = usePath();
  const given = useGivenTitle();
  const parts = titleParts(path, given);
  const waiting = useOperation("host_info", {}).data?.counts.needs_you ?? 0;
  const [opened] = useState(path);
  const [said, setSaid] = useState("");
  const title = [...parts, "Toolcrib"].join(" · ");
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [waiting, title]);
  const arrive = useEffectEvent(() => {
    if (/^\/(chat|servers|workflows)\/./.test(path) && path !== "/chat/new") keepRecent(path);
    setSaid(path === opened && said === "" ? "" : parts.join(", ")); // The browser itself reads the first title.
  });
  const isNamed = given !== null || !/^\/chat\/./.test(path);
  useEffect(() => {
    const timer = setTimeout(arrive, isNamed ? SETTLING : FETCHING);
    return () => clearTimeout(timer);
  }, [path, isNamed]);
  return (
    <div className="visually-hidden" aria-live="polite" data-page-said>
      {said}
    </div>
  );
}

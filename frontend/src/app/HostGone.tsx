/** The strip "Toolcrib is not responding" while the host is away: when it appears, buttons that do nothing meanwhile;
 * also the page of a browser that is signed out. */

import { useEffect, useState } from "react";

import { useConnection } from "../api/hooks";
import { pageKey } from "../api/key";
import { live } from "../api/live";
import { clock } from "../ui/amounts";
import { Glyph } from "../ui/Status";
import { Sprite } from "../ui/Sprite";
import { notify } from "./notices";

/** Shown while the host does not respond: the page keeps its content and says how old it is. */
export function HostGone() {
  const connection = useConnection();
  const [now, setNow] = useState(Date.now());
  const gone = connection.state === "gone";
  useEffect(() => {
    if (!gone) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [gone]);
  const shown = gone && connection.since !== null && now - connection.since >= 1000;
  useNothingDone(shown);
  if (!shown || !connection.since) return null;
  const seconds = Math.max(0, Math.ceil(((connection.retryAt ?? now) - now) / 1000));
  return (
    <div className="host-gone" role="alert">
      <Glyph shape="retry" />
      <span className="grow">
        Toolcrib is not responding. <span aria-hidden="true">Retrying in {seconds} s. </span>The page shows the state at{" "}
        {clock(new Date(connection.since))}. Restart it with <code>toolcrib up</code>; nothing on this page is lost.
      </span>
      <button type="button" className="btn small" onClick={() => live.retryNow()}>
        Try now
      </button>
    </div>
  );
}

const ACTIONS = ".btn,[role=switch]";

/** While the host is unreachable, buttons do nothing and say why; typed text is kept. */
function useNothingDone(on: boolean): void {
  useEffect(() => {
    const main = document.getElementById("main");
    if (!on || !main) return;
    function refuse(event: Event) {
      const pressed = (event.target as Element).closest(ACTIONS);
      if (!pressed) return;
      event.preventDefault();
      event.stopPropagation();
      notify("Toolcrib is not responding, so nothing was changed.");
    }
    main.dataset["gone"] = "";
    main.addEventListener("click", refuse, true);
    return () => {
      delete main.dataset["gone"];
      main.removeEventListener("click", refuse, true);
    };
  }, [on]);
}

/** Without a key nothing is shown until another tab of this browser signs in. */
export function SignedOut() {
  useEffect(() => {
    const look = () => pageKey() && location.reload();
    addEventListener("storage", look);
    return () => removeEventListener("storage", look);
  }, []);
  return (
    <>
      <Sprite />
      <main className="page signed-out">
        <h1>Toolcrib</h1>
        <p className="secondary signed-out-text">
          This browser is signed out. Open the page again with <code>toolcrib open</code>.
        </p>
      </main>
    </>
  );
}

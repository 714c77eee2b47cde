import { useEffect, useState } from "react";

import { useConnection } from "../api/hooks";
import { pageKey } from "../api/key";
import { live } from "../api/live";
import { clock } from "../ui/amounts";
import { Glyph } from "../ui/Status";
import { Sprite } from "../ui/Sprite";
import { notify } from "./notices";

/** The host does not answer: what is seen stays, and says from when it is. */
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
    <div className="gone" role="alert">
      <Glyph shape="retry" />
      <span className="grow">
        Toolcrib is not answering. <span aria-hidden="true">Trying again in {seconds} s. </span>This is how it was at {clock(new Date(connection.since))}. Start
        it again with <code>toolcrib up</code>; nothing of this page is lost.
      </span>
      <button type="button" className="btn sm" onClick={() => live.tryNow()}>
        Try now
      </button>
    </div>
  );
}

const ACTIONS = ".btn,[role=switch]";

/** While nobody would hear it, what acts does nothing and says why; what was typed stays where it is. */
function useNothingDone(on: boolean): void {
  useEffect(() => {
    const main = document.getElementById("main");
    if (!on || !main) return;
    function refuse(event: Event) {
      const pressed = (event.target as Element).closest(ACTIONS);
      if (!pressed) return;
      event.preventDefault();
      event.stopPropagation();
      notify("Toolcrib is not answering, so nothing was done.");
    }
    main.dataset["gone"] = "";
    main.addEventListener("click", refuse, true);
    return () => {
      delete main.dataset["gone"];
      main.removeEventListener("click", refuse, true);
    };
  }, [on]);
}

/** Without a key nothing is shown, until another tab of this browser has one again. */
export function SignedOut() {
  useEffect(() => {
    const look = () => pageKey() && location.reload();
    addEventListener("storage", look);
    return () => removeEventListener("storage", look);
  }, []);
  return (
    <>
      <Sprite />
      <main className="page" style={{ maxWidth: 560, paddingTop: 96 }}>
        <h1>Toolcrib</h1>
        <p className="q" style={{ marginTop: 12, fontSize: "var(--t-15)" }}>
          This page’s key is no longer valid. Open a new one with <code>toolcrib open</code>.
        </p>
      </main>
    </>
  );
}

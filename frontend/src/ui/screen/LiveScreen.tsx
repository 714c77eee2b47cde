/** The screen that a server works on, live, with a button that stops all input. The host does the stopping. */

import { useRef, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { refreshSoon, useOperation } from "../../api/hooks";
import type { ScreenShown, ScreenState } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../Dialog";
import { Status } from "../Status";
import "./screen.css";
import { keyNames, TEXT } from "./text";
import { useScreen } from "./useScreen";

/** Nothing for a server without a screen. */
export function LiveScreen({ server }: { server: string }) {
  const state = useOperation("screens", {}).data?.find((one) => one.server === server);
  return state ? <Screen known={state} /> : null;
}

function Screen({ known }: { known: ScreenState }) {
  const panel = useRef<HTMLElement>(null);
  const shown: ScreenShown = useScreen(known.server, panel) ?? known;
  const [busy, setBusy] = useState(false);
  async function change(operation: "halt" | "resume") {
    setBusy(true);
    try {
      await run(operation, { name: known.server });
    } catch (error) {
      notify(sentence(error));
    }
    refreshSoon("screens");
    setBusy(false);
  }
  const stopped = shown.stopped !== "";
  return (
    <section ref={panel} className="panel live-screen" aria-label={TEXT.picture(known.server)}>
      <div className="panel-head">
        <h2>{TEXT.screen}</h2>
        <StateOf shown={shown} />
        <span className="grow" />
        <button
          type="button"
          className="btn small"
          disabled={busy}
          onClick={() => void change(stopped ? "resume" : "halt")}
        >
          {stopped ? TEXT.resume : TEXT.stop}
        </button>
      </div>
      <Picture shown={shown} />
      {stopped && <p className="secondary text-small screen-note">{stoppedText(shown)}</p>}
    </section>
  );
}

function StateOf({ shown }: { shown: ScreenState }) {
  if (shown.stopped) return <Status shape="stop" word={TEXT.stopped} />;
  if (!shown.open) return <Status shape="off" word={TEXT.idle} />;
  return <Status shape="ok" word={shown.own ? TEXT.live : TEXT.own} />;
}

function stoppedText({ stopped, stop_key: key }: ScreenState): string {
  return key && stopped === key ? TEXT.stoppedBy(keyNames(key)) : TEXT.stoppedHere;
}

function Picture({ shown }: { shown: ScreenShown }) {
  const [large, setLarge] = useState(false);
  if (!shown.own)
    return (
      <p className="secondary text-small screen-note">
        {TEXT.yours} {shown.stop_key && TEXT.stopKey(keyNames(shown.stop_key))}
      </p>
    );
  if (!shown.picture) return <p className="secondary text-small screen-note">{shown.open ? "" : TEXT.notStarted}</p>;
  const name = TEXT.picture(shown.server);
  const image = (
    <img src={`data:image/jpeg;base64,${shown.picture}`} width={shown.width} height={shown.height} alt={name} />
  );
  return (
    <>
      <button
        type="button"
        className="plain-button screen-picture"
        aria-label={`${TEXT.larger}: ${name}`}
        onClick={() => setLarge(true)}
      >
        {image}
      </button>
      {large && (
        <Dialog title={name} className="screen-dialog" onClose={() => setLarge(false)}>
          {image}
        </Dialog>
      )}
    </>
  );
}

import { useEffect, useRef, useState } from "react";

import { day } from "../../ui/amounts";
import { Changed, Command } from "./Command";
import type { Launch } from "./data";
import { Frame } from "./Frame";
import { Legend } from "./Legend";
import { CONFIRM, trustWords } from "./words";

/** How long a question only shows itself: a click that was meant for something else must not answer it. */
const DEAF = 500;

interface Props {
  launch: Launch;
  onTrust: () => void;
  onRefuse: () => void;
}

/** The exact command, whole, before it first runs. */
export function ConfirmStep({ launch, onTrust, onRefuse }: Props) {
  const refuse = useRef<HTMLButtonElement>(null);
  const listens = useListening(launch.mark);
  const address = launch.url !== "";
  const changed = launch.changed.length > 0 && launch.agreed !== null;
  const answer = (act: () => void) => () => listens() && act();
  return (
    <Frame
      title={address ? CONFIRM.address : CONFIRM.program}
      alert
      describedBy="confirm-about"
      first={refuse}
      onClose={answer(onRefuse)}
      foot={
        <>
          <span className="grow m t12">{CONFIRM.again}</span>
          <button ref={refuse} type="button" className="btn" onClick={answer(onRefuse)}>
            {address ? CONFIRM.noAddress : CONFIRM.no}
          </button>
          <button
            type="button"
            className="btn pri"
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            onClick={answer(onTrust)}
          >
            {trustWords(!launch.installed, address)}
          </button>
        </>
      }
    >
      {changed && launch.agreed && <p className="bb" style={{ marginBottom: 8 }}>{CONFIRM.changed(launch.name, day(launch.agreed))}</p>}
      <p className="q" id="confirm-about" style={{ marginBottom: 10 }}>{address ? CONFIRM.addressAbout : CONFIRM.programAbout}</p>
      <Command launch={launch} />
      {changed && <Changed launch={launch} />}
      <Legend launch={launch} />
    </Frame>
  );
}

/** True once what is shown has been there for a while. */
function useListening(mark: string): () => boolean {
  const [since, setSince] = useState(() => performance.now());
  useEffect(() => setSince(performance.now()), [mark]);
  return () => performance.now() - since >= DEAF;
}

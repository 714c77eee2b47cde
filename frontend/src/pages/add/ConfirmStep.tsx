/** The question "Allow this program to run?" with the exact command; it ignores clicks for half a second after it
 * appeared. */

import { useEffect, useState } from "react";

import { day } from "../../ui/amounts";
import { Changed, Command } from "./Command";
import type { Launch } from "./types";
import { StepDialog } from "./StepDialog";
import { Effects } from "./Effects";
import { CONFIRM, trustText } from "./text";

/** How long a question only shows itself: a click that was meant for something else must not answer it. */
const INPUT_DELAY = 500;

interface Props {
  launch: Launch;
  onTrust: () => void;
  onRefuse: () => void;
}

/** The exact command, whole, before it first runs. */
export function ConfirmStep({ launch, onTrust, onRefuse }: Props) {
  const listens = useListening(launch.mark);
  const address = launch.url !== "";
  const changed = launch.changed.length > 0 && launch.agreed !== null;
  const answer = (act: () => void) => () => listens() && act();
  return (
    <StepDialog
      title={address ? CONFIRM.address : CONFIRM.program}
      alert
      describedBy="confirm-about"
      onClose={answer(onRefuse)}
      foot={
        <>
          <span className="grow muted text-small">{CONFIRM.again}</span>
          <button type="button" className="btn" onClick={answer(onRefuse)}>
            {address ? CONFIRM.noAddress : CONFIRM.no}
          </button>
          <button
            type="button"
            className="btn primary"
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            onClick={answer(onTrust)}
          >
            {trustText(!launch.installed, address)}
          </button>
        </>
      }
    >
      {changed && launch.agreed && (
        <p className="bold space-below-8">{CONFIRM.changed(launch.name, day(launch.agreed))}</p>
      )}
      <p className="secondary space-below-10" id="confirm-about">
        {address ? CONFIRM.addressAbout : CONFIRM.programAbout}
      </p>
      <Command launch={launch} />
      {changed && <Changed launch={launch} />}
      <Effects launch={launch} />
    </StepDialog>
  );
}

/** True once what is shown has been there for a while. */
function useListening(mark: string): () => boolean {
  const [since, setSince] = useState(() => performance.now());
  useEffect(() => setSince(performance.now()), [mark]);
  return () => performance.now() - since >= INPUT_DELAY;
}

/** The question before a server is updated, with what would be downloaded; the host installs it in the background. */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import type { InstallPlan } from "../../api/types";
import { Dialog } from "../../ui/Dialog";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { updateServer } from "../add/setups";
import { UPDATE } from "./text";

/** A newer version: first exactly what would be done; the doing goes on in the host, and is followed elsewhere. */
export function UpdateDialog({
  name,
  to,
  onClose,
  onBegun,
}: {
  name: string;
  to: string;
  onClose: () => void;
  onBegun: () => void;
}) {
  const [plan, setPlan] = useState<InstallPlan | null>(null);
  const [current, setCurrent] = useState(false);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  useEffect(() => {
    const looking = new AbortController();
    run("update", { name, to, dry_run: true }, looking.signal)
      .then((answer) => (answer.plan ? setPlan(answer.plan) : setCurrent(true)))
      .catch((error: unknown) => !looking.signal.aborted && setTrouble(error));
    return () => looking.abort();
  }, [name, to]);

  function update(agreed: InstallPlan) {
    setTrouble(null);
    setBusy(true);
    updateServer(name, to, agreed.digest).then(onBegun, (error: unknown) => {
      setTrouble(error);
      setBusy(false);
    });
  }

  return (
    <Dialog title={UPDATE.title(name, to)} careful onClose={onClose}>
      <div className="update-plan">
        {!plan && !current && trouble === null && <Loading rows={3} height={28} />}
        {current && <p className="secondary">{UPDATE.current}</p>}
        {plan && <pre className="code wrap">{reveal([plan.command.join(" "), ...plan.fetches].join("\n"))}</pre>}
        {trouble !== null && <ErrorBox error={trouble} />}
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            {UPDATE.leave}
          </button>
          <button type="button" className="btn primary" disabled={!plan || busy} onClick={() => plan && update(plan)}>
            {UPDATE.go}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

import { useEffect, useState } from "react";

import { run, stream } from "../../api/client";
import { queries } from "../../api/hooks";
import type { InstallPlan, InstallStep } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { Status } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";

/** A newer version: first exactly what would be done, then the doing. */
export function UpdateDialog({ name, to, onClose }: { name: string; to: string; onClose: () => void }) {
  const [plan, setPlan] = useState<InstallPlan | null>(null);
  const [step, setStep] = useState<InstallStep | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  useEffect(() => {
    const looking = new AbortController();
    run("update", { name, to, dry_run: true }, looking.signal)
      .then((answer) => setPlan(answer.plan))
      .catch((error: unknown) => !looking.signal.aborted && setTrouble(error));
    return () => looking.abort();
  }, [name, to]);

  async function update(agreed: InstallPlan) {
    setTrouble(null);
    try {
      await stream("update", { name, to, agreed: agreed.digest }, (news) => setStep(news as InstallStep));
      notify(`“${name}” is ${to} now.`);
      onClose();
    } catch (error) {
      setTrouble(error);
    }
    setStep(null);
    void queries.invalidateQueries();
  }

  return (
    <Dialog title={`Update ${name} to ${to}?`} onClose={onClose}>
      <div style={{ padding: "14px 14px 18px", display: "grid", gap: 12 }}>
        {!plan && trouble === null && <Loading rows={3} height={28} />}
        {plan && <pre className="code wrap">{[plan.command.join(" "), ...plan.fetches].join("\n")}</pre>}
        {step && <Status shape="work" word={`${step.stage} ${step.detail}${step.total ? `, ${step.done} of ${step.total}` : ""}`} />}
        {trouble !== null && <Trouble error={trouble} />}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>Leave it</button>
          <button type="button" className="btn pri" disabled={!plan || step !== null} onClick={() => plan && void update(plan)}>Update</button>
        </div>
      </div>
    </Dialog>
  );
}

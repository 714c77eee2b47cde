/** The dialog "Triggers": triggers on and off, next start, starts that failed, address of a webhook, a new
 * schedule. The host understands the schedule. */

import { useState, type FormEvent } from "react";

import { run } from "../../../api/client";
import { queries } from "../../../api/hooks";
import type { TriggerShown, TriggerStart } from "../../../api/types";
import { notify } from "../../../app/notices";
import { dayAndTime } from "../../../ui/amounts";
import { Copy } from "../../../ui/Copy";
import { Dialog } from "../../../ui/Dialog";
import { ErrorBox } from "../../../ui/ErrorBox";
import { reveal } from "../../../ui/hidden";
import { Switch } from "../../../ui/Switch";
import { SCHEDULE } from "../text/editor";
import type { EditorControls } from "./state";
import { useTriggers } from "./triggers";
import type { Saving } from "./useSaving";

interface Props {
  editor: EditorControls;
  saving: Saving;
  onClose: () => void;
}

/** What starts the workflow by itself: schedules are added here, each trigger is turned on and off. */
export function ScheduleDialog({ editor, saving, onClose }: Props) {
  const { name } = editor.graph;
  const { data, error, refetch } = useTriggers(name);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [address, setAddress] = useState<string | null>(null);
  const refresh = () => {
    void refetch();
    void queries.invalidateQueries({ queryKey: ["workflow_get", { name }] });
  };
  async function turn(one: TriggerShown, on: boolean) {
    setTrouble(null);
    try {
      const done = await run("workflow_trigger_set", { name, index: one.index, on });
      setAddress(done.url);
    } catch (problem) {
      setTrouble(problem);
    }
    refresh();
  }
  return (
    <Dialog title={SCHEDULE.title} onClose={onClose}>
      <div className="dialog-form">
        {data?.length === 0 && <p className="secondary">{SCHEDULE.none}</p>}
        <ul className="trigger-list">
          {data?.map((one) => (
            <li key={one.index} className="row">
              <Switch
                label={SCHEDULE.on(one.sentence)}
                on={one.state !== "off"}
                onChange={(on) => void turn(one, on)}
              />
              <span className="grow">
                <b className="medium">{SCHEDULE.types[one.type] ?? one.type}</b>{" "}
                <span className="secondary break-anywhere">{reveal(one.sentence)}</span>
                {[one.reason, ...one.problems].filter(Boolean).map((why) => (
                  <p key={why} className="error-text text-small">
                    {reveal(why)}
                  </p>
                ))}
                {one.failed.map((start) => (
                  <FailedStart key={start.run} start={start} onStarted={refresh} onTrouble={setTrouble} />
                ))}
                {one.more_failed && <p className="muted text-small">{SCHEDULE.moreFailed}</p>}
              </span>
              <span className="muted text-small num">
                {one.next ? SCHEDULE.next(dayAndTime(one.next)) : SCHEDULE.off}
              </span>
            </li>
          ))}
        </ul>
        {address && (
          <div>
            <p className="secondary text-small">{SCHEDULE.address}</p>
            <div className="row space-above-4">
              <code className="code wrap grow">{address}</code>
              <Copy text={address} />
            </div>
          </div>
        )}
        {(error ?? trouble) !== null && <ErrorBox error={error ?? trouble} />}
        <NewSchedule name={name} saving={saving} onAdded={refresh} onTrouble={setTrouble} />
      </div>
    </Dialog>
  );
}

interface FailedProps {
  start: TriggerStart;
  onStarted: () => void;
  onTrouble: (trouble: unknown) => void;
}

/** A run that the trigger could not start, and why. */
function FailedStart({ start, onStarted, onTrouble }: FailedProps) {
  async function again() {
    onTrouble(null);
    try {
      const started = await run("workflow_rerun", { run: start.run, detach: true });
      notify(SCHEDULE.started(started.run));
    } catch (problem) {
      onTrouble(problem);
    }
    onStarted();
  }
  return (
    <p className="error-text text-small" data-failed-start={start.run}>
      {reveal(SCHEDULE.failed(dayAndTime(start.due), start.note))}{" "}
      {start.startable && (
        <button type="button" className="btn small" onClick={() => void again()}>
          {SCHEDULE.again}
        </button>
      )}
    </p>
  );
}

interface NewProps {
  name: string;
  saving: Saving;
  onAdded: () => void;
  onTrouble: (trouble: unknown) => void;
}

function NewSchedule({ name, saving, onAdded, onTrouble }: NewProps) {
  const [cron, setCron] = useState("");
  const [timezone, setTimezone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [busy, setBusy] = useState(false);
  async function add(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    onTrouble(null);
    try {
      if (!(await saving.save())) return;
      await run("workflow_schedule", { name, cron, timezone });
      notify(SCHEDULE.saved);
      setCron("");
      onAdded();
    } catch (error) {
      onTrouble(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form className="schedule-form" onSubmit={(event) => void add(event)}>
      <h3>{SCHEDULE.add}</h3>
      <div className="form-pair">
        <div>
          <label className="form-label" htmlFor="schedule-cron">
            {SCHEDULE.cron}
          </label>
          <div className="field mono">
            <input
              id="schedule-cron"
              value={cron}
              placeholder="30 7 * * 1-5"
              autoComplete="off"
              onChange={(event) => setCron(event.target.value)}
            />
          </div>
        </div>
        <div>
          <label className="form-label" htmlFor="schedule-zone">
            {SCHEDULE.timezone}
          </label>
          <div className="field mono">
            <input
              id="schedule-zone"
              value={timezone}
              autoComplete="off"
              onChange={(event) => setTimezone(event.target.value)}
            />
          </div>
        </div>
      </div>
      <p className="muted text-small space-above-4">{SCHEDULE.cronAbout}</p>
      <div className="row align-end">
        <button type="submit" className="btn primary" disabled={busy || cron.trim() === ""}>
          {SCHEDULE.save}
        </button>
      </div>
    </form>
  );
}

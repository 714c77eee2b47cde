/** Step 4 of Welcome: the folder where the terminal and the file tools work. */

import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { Dialog } from "../../ui/Dialog";
import { Step } from "./Step";
import { TEXT } from "./text";

/** Where the terminal and the file tools work. */
export function FolderStep() {
  const { data } = useOperation("settings_show", {});
  const [asking, setAsking] = useState(false);
  const terminal = data?.settings["terminal"] as { folder?: string } | undefined;
  const folder = terminal?.folder ?? "";
  const choose = (
    <button type="button" className="btn" onClick={() => setAsking(true)}>
      {folder ? "Change…" : TEXT.choose}
    </button>
  );
  return (
    <Step number={4} shape={folder ? "done" : "off"} title={TEXT.folder} action={choose}>
      <p>{folder ? <code>{folder}</code> : TEXT.folderAbout}</p>
      {asking && <FolderForm folder={folder} onClose={() => setAsking(false)} />}
    </Step>
  );
}

function FolderForm({ folder, onClose }: { folder: string; onClose: () => void }) {
  const [path, setPath] = useState(folder);
  const [wrong, setWrong] = useState("");
  async function save(event: FormEvent) {
    event.preventDefault();
    try {
      await run("settings_set", { key: "terminal.folder", value: path.trim() });
      void queries.invalidateQueries({ queryKey: ["settings_show"] });
      onClose();
    } catch (error) {
      setWrong(sentence(error));
    }
  }
  return (
    <Dialog title={TEXT.folder} onClose={onClose}>
      <form className="dialog-body" onSubmit={(event) => void save(event)}>
        <label>
          <span className="muted text-small">Full path, such as /home/you/code/project</span>
          <span className="field">
            <input className="mono" value={path} spellCheck={false} onChange={(event) => setPath(event.target.value)} />
          </span>
        </label>
        <p className="status fail one-line" role="alert">
          {wrong}
        </p>
        <div className="row align-end">
          <button type="submit" className="btn primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

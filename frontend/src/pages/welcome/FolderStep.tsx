import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { Dialog } from "../../ui/Dialog";
import { Step } from "./Step";
import { WORDS } from "./words";

/** Where the terminal and the file tools work. */
export function FolderStep() {
  const { data } = useOperation("settings_show", {});
  const [asking, setAsking] = useState(false);
  const terminal = data?.settings["terminal"] as { folder?: string } | undefined;
  const folder = terminal?.folder ?? "";
  const choose = (
    <button type="button" className="btn" onClick={() => setAsking(true)}>
      {folder ? "Change…" : WORDS.choose}
    </button>
  );
  return (
    <Step number={4} shape={folder ? "done" : "off"} title={WORDS.folder} action={choose}>
      <p>{folder ? <code>{folder}</code> : WORDS.folderAbout}</p>
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
    <Dialog title={WORDS.folder} onClose={onClose}>
      <form style={{ padding: "14px 14px 18px" }} onSubmit={(event) => void save(event)}>
        <label>
          <span className="m t12">Its whole path, such as /home/you/code/project</span>
          <span className="field">
            <input className="mono" value={path} spellCheck={false} onChange={(event) => setPath(event.target.value)} />
          </span>
        </label>
        <p className="st fail" role="alert" style={{ minHeight: 20 }}>
          {wrong}
        </p>
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="submit" className="btn pri">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

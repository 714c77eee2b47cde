import { useState } from "react";

import { run } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { reveal } from "../../ui/hidden";
import { Trouble } from "../../ui/Trouble";
import type { Recognised } from "./data";
import { severalWords } from "./words";

/** Several servers of one paste, each with a tick; taking them in starts none. */
export function Several({ found, onDone }: { found: Recognised; onDone: () => void }) {
  const [ticked, setTicked] = useState(() => new Set(found.servers.filter((one) => !one.taken).map((one) => one.name)));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function take(): Promise<void> {
    setBusy(true);
    try {
      await run("import_apply", {
        file: found.file,
        host: found.host,
        text: found.text,
        only: [...ticked],
        otherwise: "rename",
        digest: found.digest,
      });
      await queries.invalidateQueries();
      notify(`Imported ${ticked.size}, started none.`);
      onDone();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }

  return (
    <fieldset className="sev">
      <legend className="b">{severalWords(found.servers)}</legend>
      {found.servers.map((server) => (
        <label key={server.name} className="ck">
          <input
            type="checkbox"
            checked={ticked.has(server.name)}
            onChange={(event) => {
              const next = new Set(ticked);
              if (event.target.checked) next.add(server.name);
              else next.delete(server.name);
              setTicked(next);
            }}
          />
          <span className="grow">
            <b className="b">{reveal(server.name)}</b>{" "}
            {server.taken && <span className="m t12">{server.standing === "same" ? "there already" : "name is taken, gets a number"}</span>}
            <code className="whole">{server.url || server.words.join(" ")}</code>
          </span>
        </label>
      ))}
      {Object.entries(found.refused).map(([name, why]) => (
        <p key={name} className="m t12">{reveal(name)}: left out, {reveal(why)}</p>
      ))}
      {error !== null && <Trouble error={error} />}
      <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
        <button type="button" className="btn pri" disabled={busy || ticked.size === 0} onClick={() => void take()}>
          Import {ticked.size}, start none
        </button>
      </div>
    </fieldset>
  );
}

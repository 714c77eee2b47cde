/** Several servers in one paste: choosing which to import, names that are already used. Importing starts none. */

import { useState } from "react";

import { run } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { ErrorBox } from "../../ui/ErrorBox";
import type { Recognised } from "./types";
import { severalText } from "./text";

/** ServerChoices servers of one paste, each with a tick; taking them in starts none. */
export function ServerChoices({ found, onDone }: { found: Recognised; onDone: () => void }) {
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
      notify(`Imported ${plural(ticked.size, "server")}. Nothing was started.`);
      onDone();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }

  return (
    <fieldset className="server-choices">
      <legend className="medium">{severalText(found.servers)}</legend>
      {found.servers.map((server) => (
        <label key={server.name} className="check-row">
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
            <b className="medium">{reveal(server.name)}</b>{" "}
            {server.taken && (
              <span className="muted text-small">
                {server.standing === "same" ? "already added" : "name already used, a number is added"}
              </span>
            )}
            <code className="full-command">{server.url || server.words.join(" ")}</code>
          </span>
        </label>
      ))}
      {Object.entries(found.refused).map(([name, why]) => (
        <p key={name} className="muted text-small">
          {reveal(name)}: skipped, {reveal(why)}
        </p>
      ))}
      {error !== null && <ErrorBox error={error} />}
      <div className="row space-above-12 align-end">
        <button type="button" className="btn primary" disabled={busy || ticked.size === 0} onClick={() => void take()}>
          Import {ticked.size} (nothing starts)
        </button>
      </div>
    </fieldset>
  );
}

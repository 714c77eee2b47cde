/** Notices above the list of servers: a config file that cannot be read, all servers turned off, and the field that is
 * shown if there are no servers. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Glyph, Status } from "../../ui/Status";
import { LearnMore } from "../../ui/LearnMore";
import * as actions from "./actions";
import type { Open } from "./Dialogs";
import type { Overview } from "./model";
import { EMPTY, OFF, PAGE } from "./text";

/** A config file that cannot be read: where, why, and that nothing was lost. */
export function BadConfig({ trouble }: { trouble: NonNullable<Overview["config_error"]> }) {
  return (
    <div className="config-error" role="alert">
      <Glyph shape="fail" />
      <span className="grow">
        {reveal(trouble.message)} {PAGE.lastGood}
      </span>
      <Link className="btn small" href="/settings">
        Open
      </Link>
    </div>
  );
}

/** The master switch is off. */
export function AllOff({ at, ended }: { at: string | null; ended: number | null }) {
  return (
    <section className="panel notice-panel" aria-label={OFF.title}>
      <Status shape="off" word={OFF.title} />
      <p className="secondary">{OFF.about(at, ended)}</p>
      <button type="button" className="btn primary" onClick={() => void actions.switchAll(true)}>
        {OFF.again}
      </button>
    </section>
  );
}

/** Nothing is configured: the paste box itself. */
export function Empty({ onOpen }: { onOpen: (open: Open) => void }) {
  const [text, setText] = useState("");
  const found = useOperation("import_found", {}).data ?? [];
  const servers = new Set(found.flatMap((source) => source.new)).size;
  const see = () => text.trim() && onOpen({ what: "add", text });
  return (
    <section className="panel notice-panel" aria-labelledby="no-servers">
      <h2 id="no-servers">{EMPTY.title}</h2>
      <p className="secondary">
        {EMPTY.about} <LearnMore page="install.html" />
      </p>
      <form onSubmit={(event) => (event.preventDefault(), see())}>
        <span className="field">
          <input
            className="mono"
            aria-label="A command, a package, a link or JSON"
            placeholder={EMPTY.hint}
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
            onPaste={(event) => {
              event.preventDefault();
              onOpen({ what: "add", text: event.clipboardData.getData("text") });
            }}
          />
        </span>
      </form>
      <div className="row">
        {servers > 0 && (
          <button type="button" className="btn" onClick={() => onOpen({ what: "import" })}>
            Import {plural(servers, "found server")}
          </button>
        )}
        <button type="button" className="btn bare" onClick={() => onOpen({ what: "add", start: "catalog" })}>
          {EMPTY.catalog}
        </button>
      </div>
    </section>
  );
}

/** The panel "Runs as": the exact command, folder, environment variables, headers, sandbox and process of a server,
 * and since when it is trusted. */

import type { ReactNode } from "react";

import { useOperation } from "../../api/hooks";
import { tilde } from "../../text/home";
import { day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Status } from "../../ui/Status";
import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";
import { RUNS, TEXT } from "./text";

/** Exactly what runs, where, with what, and since when it is trusted. */
export function RunsAs({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { data } = useOperation("launch", { name: server.name });
  const status = useOperation("servers", {}).data?.find((one) => one.name === server.name);
  if (!data) return null;
  const names = [...data.inherits, ...data.sets.map((one) => one.text.split("=")[0] ?? "")].filter(Boolean);
  const process = [server.pid, server.type, status?.era ? `protocol ${status.era}` : null].filter(Boolean).join(" · ");
  return (
    <section className="panel space-above-16" aria-label={TEXT.runsAs}>
      <div className="panel-head">
        <h2>{TEXT.runsAs}</h2>
        <span className="grow" />
        {data.trusted ? (
          <Status shape="ok" word={data.agreed ? `Trusted ${day(data.agreed)}` : "Trusted"} />
        ) : (
          <button type="button" className="btn small" onClick={() => onOpen({ what: "review", name: server.name })}>
            Review…
          </button>
        )}
      </div>
      <dl className="details">
        {data.url && (
          <Row name={RUNS.address} mono>
            {data.url}
          </Row>
        )}
        {data.program && (
          <Row name={RUNS.command} mono>
            {tilde(data.program)}
            {data.arguments.map((argument, index) => (
              <span key={index} className="argument">
                <span className="muted">{index + 1}</span>
                <span>{tilde(argument.text)}</span>
              </span>
            ))}
          </Row>
        )}
        {!data.url && !data.program && <Row name={RUNS.runs}>{RUNS.inside}</Row>}
        {data.folder && (
          <Row name={RUNS.folder}>
            <code>{tilde(data.folder)}</code>
          </Row>
        )}
        {data.headers.length > 0 && (
          <Row name={RUNS.headers}>
            <code>{data.headers.join(", ")}</code>
          </Row>
        )}
        {data.program && (
          <Row name={RUNS.environment}>
            <code>{names.join(", ") || RUNS.nothing}</code>{" "}
            <span className="muted">{names.length ? RUNS.nothingElse : ""}</span>
          </Row>
        )}
        {data.program && <Row name={TEXT.sandbox}>{data.sandbox.map(reveal).join("; ") || TEXT.noSandbox}</Row>}
        <Row name={RUNS.process}>
          <span className="num">{process || RUNS.none}</span>
        </Row>
      </dl>
    </section>
  );
}

function Row({ name, mono = false, children }: { name: string; mono?: boolean; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className={mono ? "mono command-lines" : ""}>{children}</dd>
    </>
  );
}

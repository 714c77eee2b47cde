import { Fragment } from "react";

import { useOperation } from "../../api/hooks";
import { day } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";
import { WORDS } from "./words";

/** Exactly what runs, where, with what, and since when it is trusted. */
export function RunsAs({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { data } = useOperation("launch", { name: server.name });
  const status = useOperation("servers", {}).data?.find((one) => one.name === server.name);
  if (!data) return null;
  const names = [...data.inherits, ...data.sets.map((one) => one.text.split("=")[0] ?? "")].filter(Boolean);
  const process = [server.pid, server.type, status?.era ? `protocol ${status.era}` : null].filter(Boolean).join(" · ");
  return (
    <section className="panel" style={{ marginTop: 16 }} aria-label={WORDS.runsAs}>
      <div className="hd">
        <h2>{WORDS.runsAs}</h2>
        <span className="grow" />
        {data.trusted ? (
          <Status shape="ok" word={data.agreed ? `Trusted ${day(data.agreed)}` : "Trusted"} />
        ) : (
          <button type="button" className="btn sm" onClick={() => onOpen({ what: "review", name: server.name })}>Review…</button>
        )}
      </div>
      <dl className="kv">
        {data.url ? (
          <>
            <dt>Address</dt>
            <dd className="mono">{data.url}</dd>
          </>
        ) : data.program ? (
          <>
            <dt>Command</dt>
            <dd className="mono" style={{ lineHeight: 1.6 }}>
              {data.program}
              {data.arguments.map((argument, index) => (
                <Fragment key={index}>
                  <br />
                  <span className="m">{index + 1}</span> {argument.text}
                </Fragment>
              ))}
            </dd>
          </>
        ) : (
          <>
            <dt>Runs</dt>
            <dd>inside Toolcrib itself, without a process of its own</dd>
          </>
        )}
        {data.folder && (
          <>
            <dt>Folder</dt>
            <dd><code>{data.folder}</code></dd>
          </>
        )}
        {data.headers.length > 0 && (
          <>
            <dt>Headers</dt>
            <dd><code>{data.headers.join(", ")}</code></dd>
          </>
        )}
        {data.program && (
          <>
            <dt>Environment</dt>
            <dd><code>{names.join(", ") || "nothing"}</code> <span className="m">{names.length ? "and nothing else" : ""}</span></dd>
          </>
        )}
        <dt>Process</dt>
        <dd className="num">{process || "none"}</dd>
      </dl>
    </section>
  );
}

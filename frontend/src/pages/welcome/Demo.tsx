/** The sample at the right of the Welcome page: a real call of the demo server with its arguments and result, and
 * other questions to try. */

import { Link } from "../../app/router";
import { duration } from "../../ui/amounts";
import { DEMO_SAMPLES } from "../../text/samples";
import { Status } from "../../ui/Status";
import { ASKED, useSample } from "./sample";
import { TEXT } from "./text";

/** A call as it was really made, and others to try. */
export function Demo() {
  const { data, error } = useSample();
  const shape = error ? "fail" : data ? "done" : "work";
  return (
    <aside className="demo" aria-label="It works: a sample">
      <div className="panel-head">
        <h2 className="grow">{TEXT.works}</h2>
        <span className="muted text-small">{TEXT.real}</span>
      </div>
      <div className="demo-body">
        <div className="user-message">
          What is {ASKED.a} + {ASKED.b}?
        </div>
        <div className="tool-card">
          <div className="card-head">
            <Status shape={shape} word={error ? "Failed" : data ? "Done" : "Running"} />
            <code>
              <span className="muted">demo ·</span> add
            </code>
            <span className="muted num push-end">{data ? duration(data.ms) : ""}</span>
          </div>
          <dl>
            <dt>arguments</dt>
            <dd>
              a: {ASKED.a}, b: {ASKED.b}
            </dd>
            <dt>result</dt>
            <dd>{error ? error.message : (data?.answer ?? "…")}</dd>
            <dt>{TEXT.allowedBy}</dt>
            <dd className="allowed-by">{data?.allowed ?? "…"}</dd>
          </dl>
        </div>
        <p className="text-reading demo-answer">
          {data && (
            <>
              {ASKED.a} + {ASKED.b} is <b className="bold">{data.answer}</b>. The demo server calculated it; the card
              above shows the actual call.
            </>
          )}
        </p>
      </div>
      <div className="samples">
        <span className="muted text-small samples-title">{TEXT.tryAnother}</span>
        {DEMO_SAMPLES.map((text) => (
          <Link key={text} className="btn small" href={`/chat?ask=${encodeURIComponent(text)}&model=demo`}>
            {text}
          </Link>
        ))}
      </div>
    </aside>
  );
}

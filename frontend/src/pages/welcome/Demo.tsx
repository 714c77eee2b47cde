import { Link } from "../../app/router";
import { duration } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import { ASKED, useSample } from "./sample";
import { SAMPLES, WORDS } from "./words";

/** A call as it was really made, and others to try. */
export function Demo() {
  const { data, error } = useSample();
  const shape = error ? "fail" : data ? "done" : "work";
  return (
    <aside className="demo" aria-label="It works: a sample">
      <div className="hd">
        <h2 className="grow">{WORDS.works}</h2>
        <span className="m t12">{WORDS.real}</span>
      </div>
      <div className="b">
        <div className="u">
          What is {ASKED.a} + {ASKED.b}?
        </div>
        <div className="tc">
          <div className="h">
            <Status shape={shape} word={error ? "Failed" : data ? "Done" : "Running"} />
            <code>
              <span className="m">demo ·</span> add
            </code>
            <span className="m num" style={{ marginLeft: "auto" }}>
              {data ? duration(data.ms) : ""}
            </span>
          </div>
          <dl>
            <dt>asked</dt>
            <dd>
              a: {ASKED.a}, b: {ASKED.b}
            </dd>
            <dt>answered</dt>
            <dd>{error ? error.message : (data?.answer ?? "…")}</dd>
            <dt>{WORDS.allowedBy}</dt>
            <dd style={{ fontFamily: "var(--sans)" }}>{data?.allowed ?? "…"}</dd>
          </dl>
        </div>
        <p className="t15" style={{ lineHeight: 1.6, minHeight: "3.2em" }}>
          {data && (
            <>
              {ASKED.a} + {ASKED.b} is <b className="bb">{data.answer}</b>. The calculator on this computer was used; the card
              above is the call as it was made.
            </>
          )}
        </p>
      </div>
      <div className="try">
        <span className="m t12" style={{ flex: "1 0 100%" }}>
          {WORDS.tryAnother}
        </span>
        {SAMPLES.map((text) => (
          <Link key={text} className="btn sm" href={`/chat?ask=${encodeURIComponent(text)}&model=demo`}>
            {text}
          </Link>
        ))}
      </div>
    </aside>
  );
}

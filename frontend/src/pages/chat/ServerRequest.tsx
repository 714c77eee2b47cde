/** The card of a server that asks the user for input, or to use the model (sampling, elicitation): its text is marked
 * as the server's. */

import { useEffect, useRef, useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { ServerAskingEvent } from "../../api/types";
import { setSearch } from "../../app/router";
import { Exact } from "../../ui/Exact";
import { reveal } from "../../ui/hidden";
import { OutsideButton } from "../../ui/OutsideLink";
import { Glyph } from "../../ui/Status";
import { SEE_ALL, Whole } from "../../ui/Whole";
import { PressIgnored, useInputDelay } from "./inputDelay";
import { startValues, wrongValues, type Fields } from "./form";
import { SchemaFields } from "./SchemaFields";
import { TEXT } from "./text";
import "./cards.css";

export function ServerRequest({
  asking,
  place,
  focused,
}: {
  asking: ServerAskingEvent;
  place: string;
  focused: boolean;
}) {
  const card = useRef<HTMLElement>(null);
  const [said, setSaid] = useState(false);
  const [trouble, setTrouble] = useState("");
  const ignored = useInputDelay(card);
  useEffect(() => {
    if (!focused) return;
    card.current?.focus();
    setSearch({ question: null });
  }, [focused]);
  async function reply(action: "accept" | "decline", content?: Record<string, unknown>) {
    setSaid(true);
    setTrouble("");
    try {
      await run("chat_reply", { id: asking.id, action, content: content ?? null });
    } catch (error) {
      setSaid(false);
      setTrouble(sentence(error));
    }
  }
  const sampling = asking.about === "sampling";
  const title = sampling ? `${asking.server} wants to use your model` : `${asking.server} asks for input`;
  return (
    <article
      ref={card}
      className="tool-card question-card"
      tabIndex={-1}
      aria-label={`Question: ${title}`}
      data-question={asking.id}
    >
      <PressIgnored shown={ignored} />
      <div className="card-head">
        <Glyph shape="need" />
        <h3 className="grow">{reveal(title)}</h3>
        {place && <span className="muted text-small num">{place}</span>}
      </div>
      <div className="card-body">
        {sampling ? (
          <Sampling asking={asking} busy={said} reply={reply} />
        ) : (
          <Elicitation asking={asking} busy={said} reply={reply} />
        )}
        {trouble && (
          <p className="error-box space-above-10" role="alert">
            {trouble}
          </p>
        )}
      </div>
    </article>
  );
}

interface Inner {
  asking: ServerAskingEvent;
  busy: boolean;
  reply: (action: "accept" | "decline", content?: Record<string, unknown>) => Promise<void>;
}

function Sampling({ asking, busy, reply }: Inner) {
  const [seen, setSeen] = useState(false);
  return (
    <>
      <p className="secondary">{TEXT.sampling}</p>
      <Whole label={TEXT.sampling} onSeen={() => setSeen(true)}>
        <pre className="code wrap">
          <Exact text={String(asking.detail["asks"] ?? "")} />
        </pre>
      </Whole>
      <p className="called space-above-12">
        {reveal(asking.server)}
        {!seen && <span className="see-first">{SEE_ALL.first}</span>}
      </p>
      <div className="actions">
        <button type="button" className="btn primary" disabled={busy || !seen} onClick={() => void reply("accept")}>
          {TEXT.letAsk}
        </button>
        <button type="button" className="btn" disabled={busy} onClick={() => void reply("decline")}>
          {TEXT.deny}
        </button>
      </div>
    </>
  );
}

function Elicitation({ asking, busy, reply }: Inner) {
  const schema = (asking.detail["requestedSchema"] ?? {}) as Fields;
  const address = typeof asking.detail["url"] === "string" ? asking.detail["url"] : "";
  const [values, setValues] = useState<Record<string, unknown>>(() => startValues(schema));
  const [tried, setTried] = useState(false);
  const wrong = wrongValues(schema, values);
  function send(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (Object.keys(wrong).length === 0) void reply("accept", values);
  }
  return (
    <form onSubmit={send} noValidate>
      <p className="secondary">
        {asking.server} says: “{reveal(asking.text)}”
      </p>
      {address ? (
        <Address address={address} />
      ) : (
        <SchemaFields schema={schema} values={values} wrong={tried ? wrong : {}} onChange={setValues} />
      )}
      <p className="muted text-small space-above-8">{TEXT.yourAnswer(reveal(asking.server))}</p>
      <div className="actions">
        <button type="submit" className="btn primary" disabled={busy}>
          {TEXT.sendAnswer}
        </button>
        <button type="button" className="btn" disabled={busy} onClick={() => void reply("decline")}>
          {TEXT.decline}
        </button>
      </div>
    </form>
  );
}

/** The whole address, so that it is seen where it leads; only one that a browser may open is a link. */
function Address({ address }: { address: string }) {
  return (
    <>
      <pre className="code wrap space-above-8">{reveal(address)}</pre>
      <p className="space-above-8">
        <OutsideButton address={address}>{TEXT.openAddress}</OutsideButton>
      </p>
    </>
  );
}

/** A server asks the person for something, or wants to ask the model: its words are shown as its words. */

import { useEffect, useRef, useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { ServerAskingEvent } from "../../api/types";
import { setSearch } from "../../app/router";
import { reveal } from "../../ui/hidden";
import { safeAddress } from "../../ui/Markdown";
import { Glyph } from "../../ui/Status";
import { useDeafAtFirst } from "./deaf";
import { startValues, wrongValues, type Fields } from "./form";
import { SchemaFields } from "./SchemaFields";
import { WORDS } from "./words";

export function ServerAsk({ asking, place, focused }: { asking: ServerAskingEvent; place: string; focused: boolean }) {
  const card = useRef<HTMLElement>(null);
  const [said, setSaid] = useState(false);
  const [trouble, setTrouble] = useState("");
  useDeafAtFirst(card);
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
  const title = sampling ? `${asking.server} wants to ask your model` : `${asking.server} asks for something`;
  return (
    <article ref={card} className="tc ask" tabIndex={-1} aria-label={`Question: ${title}`} data-question={asking.id}>
      <div className="h">
        <Glyph shape="need" />
        <h3 className="grow">{reveal(title)}</h3>
        {place && <span className="m t12 num">{place}</span>}
      </div>
      <div className="bd">
        {sampling ? <Sampling asking={asking} busy={said} reply={reply} /> : <Elicitation asking={asking} busy={said} reply={reply} />}
        {trouble && <p className="trouble" role="alert" style={{ marginTop: 10 }}>{trouble}</p>}
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
  return (
    <>
      <p className="q">{WORDS.sampling}</p>
      <pre className="code wrap" style={{ marginTop: 8 }}>{reveal(String(asking.detail["asks"] ?? ""))}</pre>
      <div className="acts">
        <button type="button" className="btn pri" disabled={busy} onClick={() => void reply("accept")}>{WORDS.letAsk}</button>
        <button type="button" className="btn" disabled={busy} onClick={() => void reply("decline")}>{WORDS.deny}</button>
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
      <p className="q">{asking.server} says: “{reveal(asking.text)}”</p>
      {address ? <Address address={address} /> : <SchemaFields schema={schema} values={values} wrong={tried ? wrong : {}} onChange={setValues} />}
      <p className="m t12" style={{ marginTop: 8 }}>{WORDS.yourAnswer}</p>
      <div className="acts">
        <button type="submit" className="btn pri" disabled={busy}>{WORDS.sendAnswer}</button>
        <button type="button" className="btn" disabled={busy} onClick={() => void reply("decline")}>{WORDS.decline}</button>
      </div>
    </form>
  );
}

/** The whole address, so that it is seen where it leads; only one that a browser may open is a link. */
function Address({ address }: { address: string }) {
  const safe = safeAddress(address);
  return (
    <>
      <pre className="code wrap" style={{ marginTop: 8 }}>{reveal(address)}</pre>
      {safe && <p style={{ marginTop: 8 }}><a href={safe} target="_blank" rel="noopener noreferrer nofollow">{WORDS.openAddress}</a></p>}
    </>
  );
}

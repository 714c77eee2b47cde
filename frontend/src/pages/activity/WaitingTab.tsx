import { useEffect, useRef } from "react";

import { run } from "../../api/client";
import { refreshOn, useOperation } from "../../api/hooks";
import type { ServerAskingEvent, WaitingItem } from "../../api/types";
import { needPath, needWords } from "../../app/needs";
import { useSaid } from "../../app/notices";
import { Link } from "../../app/router";
import { clockSeconds, day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { Glyph } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { CallAsk } from "../chat/CallAsk";
import { ServerAsk } from "../chat/ServerAsk";
import { WORDS } from "./words";

refreshOn("waiting", "waiting");

/** Everything that waits for the person; questions are answered here, the rest at its own place. */
export function WaitingTab({ wanted }: { wanted: string | null }) {
  const { data, error, refetch } = useOperation("waiting", {});
  if (error) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={3} height={80} />;
  if (data.items.length === 0) return <><p className="empty">{WORDS.waitingEmpty}</p><SaidLately /></>;
  return (
    <>
      <h2 className="sr">{WORDS.tabs.waiting}</h2>
      <ul className="waits">
        {data.items.map((item) => (
          <li key={`${item.kind} ${item.id ?? item.server}`} className="p-chat">
            <One item={item} focused={wanted !== null && item.id === wanted} />
          </li>
        ))}
      </ul>
      <SaidLately />
    </>
  );
}

/** What stood in the status line since the page was opened. */
function SaidLately() {
  const said = useSaid();
  if (said.length === 0) return null;
  return (
    <section aria-label={WORDS.said} style={{ marginTop: 28 }}>
      <h2 style={{ fontSize: "var(--t-13)" }}>{WORDS.said}</h2>
      <ul style={{ marginTop: 6 }}>
        {said.map((one) => (
          <li key={one.id} className="row t12" style={{ gap: 14, minHeight: 30 }}>
            <time className="m num" dateTime={one.at.toISOString()}>{clockSeconds(one.at)}</time>
            <span className="q">{reveal(one.text)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function One({ item, focused }: { item: WaitingItem; focused: boolean }) {
  if (item.kind === "call" && item.id) return <CallCard id={item.id} item={item} focused={focused} />;
  if ((item.kind === "sampling" || item.kind === "elicitation") && item.id) {
    const asking: ServerAskingEvent = { event: "asking", about: item.kind, id: item.id, server: item.server ?? "", text: item.reason, call: null, detail: item.detail };
    return <><From item={item} /><ServerAsk asking={asking} place="" focused={focused} /></>;
  }
  return <Elsewhere item={item} />;
}

function CallCard({ id, item, focused }: { id: string; item: WaitingItem; focused: boolean }) {
  const { data, error } = useOperation("question_show", { id });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focused && data) place.current?.scrollIntoView({ block: "nearest" });
  }, [focused, data]);
  if (error) return <p className="q">{WORDS.gone}</p>;
  if (!data) return <Loading rows={1} height={120} />;
  const reply = item.durable
    ? (action: "accept" | "decline", content: { [name: string]: unknown }) =>
        run("approval_answer", {
          id,
          allow: action === "accept",
          scope: (content["scope"] as "once" | undefined) ?? "once",
          any_arguments: content["any_arguments"] === true,
          lift: (content["lift"] as "tool" | undefined) ?? null,
          message: String(content["message"] ?? ""),
        })
    : undefined;
  return (
    <div ref={place}>
      <From item={item} />
      <CallAsk question={data} place="" focused={focused} {...(reply ? { reply } : {})} />
    </div>
  );
}

function From({ item }: { item: WaitingItem }) {
  const who = item.chat && item.principal === "agent" ? <Link href={`/chat/${encodeURIComponent(item.chat)}`}>A chat</Link> : <>{item.principal === "page" ? "A page" : (item.principal ?? item.server)}</>;
  return <p className="m t12" style={{ margin: "0 0 6px" }}>{who} asked{item.since ? `, ${day(item.since)}` : ""}{item.durable ? ". It waits, also over a restart" : ""}.</p>;
}

function Elsewhere({ item }: { item: WaitingItem }) {
  const { what, where } = needWords(item);
  return (
    <div className="row else">
      <Glyph shape="need" />
      <div className="grow">
        <b className="b">{reveal(what)}</b>
        <p className="m t12">{reveal(where)}</p>
      </div>
      <Link className="btn sm" href={needPath(item)}>Open</Link>
    </div>
  );
}

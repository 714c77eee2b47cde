/** The tab Waiting: everything that waits for the user, with who requested it; approvals are answered here, the rest
 * on its own page. Also the recent notices. */

import { useEffect, useRef } from "react";

import { run } from "../../api/client";
import { refreshOn, useOperation } from "../../api/hooks";
import type { ServerAskingEvent, WaitingItem } from "../../api/types";
import { needPath, needText } from "../../app/needs";
import { useSaid } from "../../app/notices";
import { Link } from "../../app/router";
import { clockSeconds, day } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { LearnMore } from "../../ui/LearnMore";
import { Loading } from "../../ui/Loading";
import { Glyph } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { CallApproval } from "../chat/CallApproval";
import { ServerRequest } from "../chat/ServerRequest";
import { TEXT } from "./text";

refreshOn("waiting", "waiting");

/** Everything that waits for the user; approvals are answered here, the rest on its own page. */
export function WaitingTab({ wanted }: { wanted: string | null }) {
  const { data, error, refetch } = useOperation("waiting", {});
  if (error) return <ErrorBox error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={3} height={80} />;
  if (data.items.length === 0)
    return (
      <>
        <p className="empty">
          {TEXT.waitingEmpty} <LearnMore page="approvals.html" />
        </p>
        <SaidLately />
      </>
    );
  return (
    <>
      <h2 className="visually-hidden">{TEXT.tabs.waiting}</h2>
      <ul className="waiting-list">
        {data.items.map((item) => (
          <li key={`${item.kind} ${item.id ?? item.server}`} className="page-chat">
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
    <section className="space-above-28" aria-label={TEXT.said}>
      <h2 className="text-body">{TEXT.said}</h2>
      <ul className="space-above-6">
        {said.map((one) => (
          <li key={one.id} className="row text-small notice-entry">
            <time className="muted num" dateTime={one.at.toISOString()}>
              {clockSeconds(one.at)}
            </time>
            <span className="secondary">{reveal(one.text)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function One({ item, focused }: { item: WaitingItem; focused: boolean }) {
  if (item.kind === "call" && item.id) return <CallCard id={item.id} item={item} focused={focused} />;
  if ((item.kind === "sampling" || item.kind === "elicitation") && item.id) {
    const asking: ServerAskingEvent = {
      event: "asking",
      about: item.kind,
      id: item.id,
      server: item.server ?? "",
      text: item.reason,
      call: null,
      detail: item.detail,
    };
    return (
      <>
        <From item={item} />
        <ServerRequest asking={asking} place="" focused={focused} />
      </>
    );
  }
  return <Elsewhere item={item} />;
}

function CallCard({ id, item, focused }: { id: string; item: WaitingItem; focused: boolean }) {
  const { data, error } = useOperation("question_show", { id });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focused && data) place.current?.scrollIntoView({ block: "nearest" });
  }, [focused, data]);
  if (error) return <p className="secondary">{TEXT.gone}</p>;
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
      <CallApproval question={data} place="" focused={focused} {...(reply ? { reply } : {})} />
    </div>
  );
}

function From({ item }: { item: WaitingItem }) {
  return (
    <p className="muted text-small asked-by">
      Requested by <Requester item={item} />
      {item.since ? `, ${day(item.since)}` : ""}
      {item.durable ? ". Kept across restarts" : ""}.
    </p>
  );
}

function Requester({ item }: { item: WaitingItem }) {
  if (item.chat && item.principal === "agent")
    return <Link href={`/chat/${encodeURIComponent(item.chat)}`}>a chat</Link>;
  if (item.principal?.split(":")[0] === "gateway")
    return <>{[item.principal, reveal(String(item.detail["session"] ?? ""))].filter(Boolean).join(", ")}</>;
  return <>{item.principal === "page" ? "a page" : (item.principal ?? item.server)}</>;
}

function Elsewhere({ item }: { item: WaitingItem }) {
  const { what, where } = needText(item);
  return (
    <div className="row waiting-elsewhere">
      <Glyph shape="need" />
      <div className="grow">
        <b className="medium">{reveal(what)}</b>
        <p className="muted text-small">{reveal(where)}</p>
      </div>
      <Link className="btn small" href={needPath(item)}>
        Open
      </Link>
    </div>
  );
}

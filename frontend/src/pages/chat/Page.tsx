/** The chat page: list, conversation and panel of offered tools, their keys, earlier versions of a chat, and what a
 * link may fill in (`?ask=`). "Chat not found". */

import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import { ApiError } from "../../api/errors";
import { refreshOn, useOperation } from "../../api/hooks";
import type { QuestionVersion } from "../../api/types";
import { useKeys } from "../../app/keys";
import { Link, navigate, setSearch, useRest, useSearch } from "../../app/router";
import { useTopTitle } from "../../app/title";
import { Dialog } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { deferred } from "../../ui/deferred";
import { ActionsContext } from "./actions";
import { ChatList, EVERY_CHAT } from "./ChatList";
import { ChatScreens } from "./ChatScreens";
import { useModelChoice } from "./modelChoice";
import { Composer } from "./Composer";
import { useConversation, type Look } from "./conversation";
import { Empty } from "./Empty";
import { Header, MoreMenu } from "./Header";
import { Offered, type Choice } from "./Offered";
import { allFit } from "./reasons";
import "./page.css";
import { useTurnActions } from "./turnActions";
import { isIn, keptTurn, openQuestions, type TurnView } from "./view";
import { useNarrow, useRoom } from "./widths";
import { MODES, TEXT } from "./text";

const Thread = deferred(() => import("./Thread").then((module) => module.Thread), ThreadLoading);

refreshOn("waiting", "chats");
refreshOn("tools", "tools");

const PANEL = "toolcrib.chat.offered";

export default function ChatPage() {
  const [first = ""] = useRest();
  const search = useSearch();
  const chat = first === "" || first === "new" ? null : first;
  const narrow = useNarrow();
  useKeys(useMemo(() => ({ n: () => navigate("/chat/new") }), []));
  const { data } = useOperation("chats", EVERY_CHAT);
  if (narrow && first === "" && !search.has("ask") && data?.chats.length !== 0)
    return (
      <div className="chat-layout">
        <h1 className="visually-hidden">{TEXT.chats}</h1>
        <ChatList current={null} />
      </div>
    );
  return (
    <div className="chat-layout">
      {!narrow && <ChatList current={chat} />}
      <Talk key={chat === null ? "new" : "chat"} chat={chat} />
    </div>
  );
}

function Talk({ chat }: { chat: string | null }) {
  const { look, conversation } = useConversation(chat);
  const search = useSearch();
  const { view, turns, error, version } = useVersion(chat, look, search);
  const [choice, setChoice] = useState<Choice>({ pinned: [], banned: [] });
  const chosen = useModelChoice(chat, view?.chat.model ?? null);
  const last = turns.at(-1);
  const { room, panel, sheet, toggle, show, closeSheet } = usePanel(
    last !== undefined && last.offered.length > 0 && !allFit(last.offered),
  );
  const running = last?.running ?? false;
  const at = search.has("at") ? Number(search.get("at")) : null;
  const talking = useTurnActions(chat, running, chosen, choice, show);
  const { actions, send, stop, give } = talking;
  const title = chat === null ? TEXT.newChat : (view?.chat.title ?? null);
  useTopTitle(title);
  useKeys(useMemo(() => ({ ...(running ? { Escape: stop } : {}), "]": toggle }), [running, stop, toggle]));
  useEffect(() => {
    if (view) setChoice({ pinned: view.pinned, banned: view.banned });
  }, [view]);
  // A link may fill in the field; only the user sends it.
  const asked = search.get("ask");
  const fillIn = useEffectEvent((text: string) => {
    give({ text });
    if (search.get("model") === "demo") chosen.lendModel("demo");
    setSearch({ ask: null, model: null });
  });
  useEffect(() => {
    if (asked) fillIn(asked);
  }, [asked]);

  if (error && !view) return <Gone error={error} again={() => void conversation?.read()} />;
  const menu = { onFork: () => actions.forkAt(null), onOffered: toggle, onRenamed: () => void conversation?.read() };
  const modes = MODES.filter((one) => one.value !== "off").map((one) => ({
    name: one.value === chosen.mode ? <b className="medium">{one.name}</b> : one.name,
    onSelect: () => chosen.setMode(one.value),
  }));
  const offered = (
    <>
      <ChatScreens turns={turns} />
      <Offered chat={chat} turn={last} choice={choice} onChoice={setChoice} inSheet={!room} />
    </>
  );
  return (
    <ActionsContext value={version === null ? actions : { ...actions, busy: true }}>
      <section className={room && panel ? "conversation" : "conversation without-panel"} aria-label={TEXT.conversation}>
        <h1 className="visually-hidden">{title ?? TEXT.newChat}</h1>
        <h2 className="visually-hidden">{TEXT.conversation}</h2>
        <Header view={view} turns={turns} {...menu} />
        {chat === null ? (
          <div className="scroller">
            <Empty model={chosen.model} onAsk={actions.send} onModel={chosen.setModel} />
          </div>
        ) : view === null ? (
          <ThreadLoading />
        ) : (
          <Thread
            chat={chat}
            turns={turns}
            wanted={search.get("question")}
            at={at}
            find={search.get("find") ?? ""}
            sent={talking.sent}
          />
        )}
        {version !== null ? (
          <VersionBar onLatest={() => actions.showVersion(null)} onFork={() => actions.forkAt(version)} />
        ) : (
          <Composer
            name={chat ?? "new"}
            state={doing(talking.state, last)}
            model={chosen.model}
            mode={chosen.mode}
            disabled={chosen.none}
            given={talking.given}
            editing={talking.editing}
            trouble={talking.trouble}
            onCancelEdit={talking.cancelEdit}
            onModel={chosen.setModel}
            onMode={chosen.setMode}
            onSend={send}
            onStop={stop}
            onLast={() => editLast(turns, actions.edit)}
            more={
              view && (
                <span className="only-narrow">
                  <MoreMenu view={view} before={modes} {...menu} />
                </span>
              )
            }
          />
        )}
      </section>
      {room && panel && (
        <aside className="offered-panel" aria-label={TEXT.offered}>
          {offered}
        </aside>
      )}
      {sheet && !room && (
        <Dialog title={TEXT.offered} className="page-chat sheet" onClose={closeSheet}>
          {offered}
        </Dialog>
      )}
    </ActionsContext>
  );
}

/** What is looked at: the chat as it is, or as it was with as many entries as the address says. */
function useVersion(chat: string | null, look: Look, search: URLSearchParams) {
  const wanted = search.get("version");
  const until = chat !== null && /^\d+$/.test(wanted ?? "") ? Number(wanted) : null;
  const { data, error } = useOperation(
    "chat_view",
    { chat: chat ?? "", until: until ?? 0, limit: 10_000 },
    { enabled: until !== null },
  );
  const turns = useMemo(() => data?.turns.map(keptTurn) ?? [], [data]);
  // What a search found may be in an earlier version.
  const at = Number(search.get("at") ?? NaN);
  const looked = useRef("");
  useEffect(() => {
    const place = `${chat} ${at}`;
    if (Number.isNaN(at) || !look.view || looked.current === place) return;
    looked.current = place;
    if (until !== null || look.turns.some((turn) => isIn(turn, at))) return;
    const earlier = look.turns.flatMap((turn) => turn.versions).find((one) => isBetween(one, at));
    if (earlier) setSearch({ version: String(earlier.until) });
  }, [chat, at, until, look]);
  if (until === null) return { ...look, version: null };
  return { view: data ? look.view : null, turns, error, version: until };
}

function isBetween(version: QuestionVersion, entry: number): boolean {
  return version.position <= entry && version.until !== null && entry < version.until;
}

function VersionBar({ onLatest, onFork }: { onLatest: () => void; onFork: () => void }) {
  return (
    <div className="composer">
      <div className="version-bar" role="status">
        <span className="grow">{TEXT.earlierVersion}</span>
        <button type="button" className="btn small" onClick={onFork}>
          {TEXT.continueVersion}
        </button>
        <button type="button" className="btn small primary" onClick={onLatest}>
          {TEXT.latestVersion}
        </button>
      </div>
    </div>
  );
}

function ThreadLoading() {
  return (
    <div className="scroller">
      <div className="thread">
        <Loading rows={5} />
      </div>
    </div>
  );
}

function doing(state: "idle" | "sending" | "stopping", last: TurnView | undefined) {
  if (state !== "idle") return state;
  if (!last?.running) return "idle";
  return openQuestions(last).length > 0 ? "asking" : "running";
}

function editLast(turns: readonly TurnView[], edit: (turn: TurnView) => void): void {
  const turn = turns.findLast((one) => one.question && one.position !== null);
  if (turn) edit(turn);
}

/** The offered tools at the side where there is room, else in a sheet. Where nothing was chosen there is little to see,
 * so they are shown on demand. */
function usePanel(chosen: boolean) {
  const room = useRoom();
  const [sheet, setSheet] = useState(false);
  const [wanted, setWanted] = useState<boolean | null>(null);
  const panel = wanted ?? (chosen && localStorage.getItem(PANEL) !== "closed");
  const put = useCallback(
    (open: boolean) => {
      if (chosen) localStorage.setItem(PANEL, open ? "open" : "closed");
      setWanted(open);
    },
    [chosen],
  );
  const show = useCallback(() => (room ? put(true) : setSheet(true)), [room, put]);
  const toggle = useCallback(() => (room ? put(!panel) : setSheet((open) => !open)), [room, panel, put]);
  const closeSheet = useCallback(() => setSheet(false), []);
  return { room, panel, sheet, toggle, show, closeSheet };
}

function Gone({ error, again }: { error: unknown; again: () => void }) {
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <section className="conversation without-panel" aria-label={TEXT.conversation}>
      <div className="empty-chat">
        {missing ? (
          <p className="secondary">
            {TEXT.gone} <Link href="/chat/new">{TEXT.newChat}</Link>
          </p>
        ) : (
          <ErrorBox error={error} again={again} />
        )}
      </div>
    </section>
  );
}

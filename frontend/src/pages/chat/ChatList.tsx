/** The list of chats at the left: split into Pinned, Today and Earlier, pin buttons, search with its keys and hits, words
 * for the state of each ("Asking · 1 question"), most chats shown. The host searches. */

import { useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";

import { useOperation } from "../../api/hooks";
import { useKeys } from "../../app/keys";
import { Link } from "../../app/router";
import { day, plural } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Glyph, type Shape } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import type { ChatHit, ChatSummary } from "../../api/types";
import { pinChat } from "./chatActions";
import { TEXT } from "./text";

/** Those that the list shows while nothing is looked for. */
export const EVERY_CHAT = { limit: 200 };

export function ChatList({ current }: { current: string | null }) {
  const [searching, setSearching] = useState(false);
  const [words, setWords] = useState("");
  const sought = useDeferredValue(searching ? words.trim() : "");
  const field = useRef<HTMLInputElement>(null);
  const links = useRef<HTMLElement>(null);
  useKeys(useMemo(() => ({ "/": () => setSearching(true) }), []));
  useEffect(() => {
    if (searching) field.current?.focus();
  }, [searching]);
  function close() {
    setSearching(false);
    setWords("");
  }
  function keys(event: KeyboardEvent<HTMLElement>) {
    const found = [...(links.current?.querySelectorAll("a") ?? [])];
    if (event.key === "Escape" && searching) {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && event.target === field.current) {
      found[0]?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = found.indexOf(event.target as HTMLAnchorElement) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      if (next < 0) field.current?.focus();
      else found[next]?.focus();
    }
  }
  return (
    <aside className="chat-list" aria-label={TEXT.chats} onKeyDown={keys}>
      <div className="panel-head">
        {searching ? (
          <div className="field grow chat-search">
            <input
              ref={field}
              data-search
              aria-label={TEXT.searchField}
              placeholder={TEXT.searchField}
              maxLength={500}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </div>
        ) : (
          <h2 className="grow">{TEXT.chats}</h2>
        )}
        <button
          type="button"
          className="btn bare small icon-only"
          aria-label={searching ? TEXT.closeSearch : TEXT.searchChats}
          onClick={() => (searching ? close() : setSearching(true))}
        >
          <Icon name={searching ? "close" : "search"} small />
        </button>
        <Link className="btn small icon-only" href="/chat/new" aria-label={`${TEXT.newChat}, N`}>
          <Icon name="plus" small />
        </Link>
      </div>
      <nav className="chat-links" aria-label={TEXT.chats} ref={links}>
        {sought ? <Found words={sought} /> : <Every current={current} />}
      </nav>
    </aside>
  );
}

function Every({ current }: { current: string | null }) {
  const { data, error, refetch } = useOperation("chats", EVERY_CHAT);
  return (
    <>
      {error && <ErrorBox error={error} again={() => void refetch()} />}
      {data && data.chats.length === 0 && <p className="muted text-small chat-list-empty">{TEXT.noChats}</p>}
      {data && <Groups chats={data.chats} current={current} />}
    </>
  );
}

/** What the host finds, each with the place; a click goes there. */
function Found({ words }: { words: string }) {
  const { data, error, refetch } = useOperation("chats_search", { query: words, limit: 50 }, { keepPrevious: true });
  const parts = useMemo(() => words.split(/\s+/), [words]);
  return (
    <>
      {error && <ErrorBox error={error} again={() => void refetch()} />}
      <div role="status">
        {data && data.length === 0 && <p className="muted text-small chat-list-empty">{TEXT.nothingFound(words)}</p>}
        {data && data.length > 0 && <div className="group-label">{TEXT.found}</div>}
      </div>
      {data?.map((hit) => (
        <Link key={hit.chat} href={addressOf(hit, parts[0] ?? "")}>
          <p className="ellipsis" dir="auto">
            <Marked text={hit.title || TEXT.untitled} words={parts} />
          </p>
          {hit.excerpt && (
            <span className="hit-excerpt" dir="auto">
              <Marked text={hit.excerpt} words={parts} />
            </span>
          )}
          <span className="num">{day(hit.time)}</span>
        </Link>
      ))}
    </>
  );
}

function addressOf(hit: ChatHit, word: string): string {
  const place = new URLSearchParams({ at: String(hit.position), find: word });
  return hit.position === null ? `/chat/${hit.chat}` : `/chat/${hit.chat}?${place}`;
}

/** A text in which the words that were looked for stand out. */
function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const found = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text
    .split(new RegExp(`(${found})`, "gi"))
    .map((part, index) => (index % 2 ? <mark key={index}>{part}</mark> : part));
}

function Groups({ chats, current }: { chats: readonly ChatSummary[]; current: string | null }) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const recent = (chat: ChatSummary) =>
    Date.parse(chat.updated) >= midnight || chat.state === "running" || chat.state === "asking";
  const others = chats.filter((chat) => !chat.on_top);
  const groups = [
    { name: TEXT.chatPinned, chats: chats.filter((chat) => chat.on_top) },
    { name: TEXT.today, chats: others.filter(recent) },
    { name: TEXT.earlier, chats: others.filter((chat) => !recent(chat)) },
  ];
  return (
    <>
      {groups
        .filter((group) => group.chats.length > 0)
        .map((group, index) => (
          <div key={group.name}>
            <div className={index > 0 ? "group-label space-above-10" : "group-label"}>{group.name}</div>
            {group.chats.map((chat) => (
              <One key={chat.id} chat={chat} on={chat.id === current} />
            ))}
          </div>
        ))}
    </>
  );
}

function One({ chat, on }: { chat: ChatSummary; on: boolean }) {
  const { shape, words } = standing(chat);
  const title = chat.title || TEXT.untitled;
  return (
    <div className={chat.on_top ? "chat-row pinned" : "chat-row"}>
      <Link href={`/chat/${chat.id}`} className={on ? "selected" : ""} aria-current={on ? "page" : undefined}>
        <p className="ellipsis" dir="auto">
          {title}
        </p>
        <span>
          <Glyph shape={shape} />
          <em className="ellipsis chat-state">{words}</em>
        </span>
      </Link>
      <button
        type="button"
        className="btn bare small icon-only pin-button"
        aria-pressed={chat.on_top}
        aria-label={chat.on_top ? TEXT.unpinThis(title) : TEXT.pinThis(title)}
        onClick={() => void pinChat(chat.id, !chat.on_top)}
      >
        <Icon name="pin" small />
      </button>
    </div>
  );
}

const STATES: Record<ChatSummary["state"], { shape: Shape; word: string }> = {
  empty: { shape: "wait", word: "Empty" },
  running: { shape: "work", word: "Working" },
  asking: { shape: "need", word: "Asking" },
  done: { shape: "done", word: "Done" },
  stopped: { shape: "stop", word: "Stopped" },
  failed: { shape: "fail", word: "Failed" },
  interrupted: { shape: "stop", word: "Interrupted" },
};

function standing(chat: ChatSummary): { shape: Shape; words: string } {
  const { shape, word } = STATES[chat.state];
  const calls = chat.calls > 0 ? plural(chat.calls, "call") : "";
  const rest = {
    empty: [],
    running: [calls],
    asking: [plural(chat.questions, "question")],
    done: [calls, day(chat.updated)],
    stopped: [calls, day(chat.updated)],
    failed: [chat.reason, day(chat.updated)],
    interrupted: [calls, day(chat.updated)],
  }[chat.state];
  return { shape, words: [word, ...rest].filter(Boolean).join(" · ") };
}

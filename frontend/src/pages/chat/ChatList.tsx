/** The list of chats at the left: split into Today and Earlier, search, words for the state of each ("Asking · 1
 * question"), most chats shown. The host searches. */

import { useDeferredValue, useEffect, useRef, useState } from "react";

import { useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { day, plural } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Glyph, type Shape } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import type { ChatSummary } from "../../api/types";
import { TEXT } from "./text";

/** Those that the list shows while nothing is looked for. */
export const EVERY_CHAT = { limit: 200, words: "" };

export function ChatList({ current }: { current: string | null }) {
  const [searching, setSearching] = useState(false);
  const [words, setWords] = useState("");
  const sought = useDeferredValue(searching ? words.trim() : "");
  const field = useRef<HTMLInputElement>(null);
  const { data, error, refetch } = useOperation("chats", { ...EVERY_CHAT, words: sought }, { keepPrevious: true });
  useEffect(() => {
    if (searching) field.current?.focus();
  }, [searching]);
  function close() {
    setSearching(false);
    setWords("");
  }
  return (
    <aside className="chat-list" aria-label={TEXT.chats}>
      <div className="panel-head">
        {searching ? (
          <div className="field grow chat-search">
            <input
              ref={field}
              data-search
              aria-label={TEXT.searchField}
              placeholder={TEXT.searchField}
              value={words}
              onChange={(event) => setWords(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Escape") return;
                event.stopPropagation();
                close();
              }}
            />
          </div>
        ) : (
          <h2 className="grow">{TEXT.chats}</h2>
        )}
        <button
          type="button"
          className="btn bare small icon-only"
          aria-label={searching ? "Close search" : TEXT.searchChats}
          onClick={() => (searching ? close() : setSearching(true))}
        >
          <Icon name={searching ? "close" : "search"} small />
        </button>
        <Link className="btn small icon-only" href="/chat/new" aria-label={`${TEXT.newChat}, N`}>
          <Icon name="plus" small />
        </Link>
      </div>
      <nav className="chat-links" aria-label={TEXT.chats}>
        {error && <ErrorBox error={error} again={() => void refetch()} />}
        {data && data.chats.length === 0 && (
          <p className="muted text-small chat-list-empty">{sought ? TEXT.nothingFound : TEXT.noChats}</p>
        )}
        {data && <Groups chats={data.chats} current={current} sought={sought !== ""} />}
      </nav>
    </aside>
  );
}

function Groups({
  chats,
  current,
  sought,
}: {
  chats: readonly ChatSummary[];
  current: string | null;
  sought: boolean;
}) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const recent = (chat: ChatSummary) =>
    Date.parse(chat.updated) >= midnight || chat.state === "running" || chat.state === "asking";
  const groups = sought
    ? [{ name: TEXT.found, chats }]
    : [
        { name: TEXT.today, chats: chats.filter(recent) },
        { name: TEXT.earlier, chats: chats.filter((chat) => !recent(chat)) },
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
  return (
    <Link href={`/chat/${chat.id}`} className={on ? "selected" : ""} aria-current={on ? "page" : undefined}>
      <p className="ellipsis" dir="auto">
        {chat.title || "Untitled"}
      </p>
      <span>
        <Glyph shape={shape} />
        <em className="ellipsis chat-state">{chat.excerpt ?? words}</em>
      </span>
    </Link>
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

/** The title of the chat, what it took, and what can be done with it. */

import { useState, type FormEvent } from "react";

import { useAction } from "../../api/hooks";
import type { ChatView } from "../../api/types";
import { money, plural, tokens as spent } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { deleteChat, exportChat } from "./keeping";
import type { TurnView } from "./view";
import { WORDS } from "./words";

interface Props {
  view: ChatView | null;
  turns: readonly TurnView[];
  onFork: () => void;
  onOffered: () => void;
  onRenamed: () => void;
}

export function Header({ view, turns, onFork, onOffered, onRenamed }: Props) {
  if (!view) return <div className="hd hide-s"><h2 className="grow el">{WORDS.newChat}</h2></div>;
  return (
    <div className="hd hide-s">
      <h2 className="grow el" dir="auto">{view.chat.title}</h2>
      <span className="m t12 num only-wide">{took(view, turns)}</span>
      <button type="button" className="btn bare sm" onClick={onFork}>
        <Icon name="fork" small />
        {WORDS.fork}
      </button>
      <MoreMenu view={view} onFork={onFork} onOffered={onOffered} onRenamed={onRenamed} />
    </div>
  );
}

interface MoreProps {
  view: ChatView;
  onFork: () => void;
  onOffered: () => void;
  onRenamed: () => void;
  /** What comes first, where there is no other place for it. */
  before?: readonly MenuEntry[];
}

export function MoreMenu({ view, onFork, onOffered, onRenamed, before = [] }: MoreProps) {
  const [renaming, setRenaming] = useState(false);
  const { chat } = view;
  return (
    <>
      <Menu
        trigger={<button type="button" className="btn bare sm ic" aria-label={WORDS.more}><Icon name="dots" small /></button>}
        entries={[
          ...before,
          { name: WORDS.rename, onSelect: () => setRenaming(true) },
          { name: WORDS.forkHere, onSelect: onFork },
          { name: WORDS.offered, onSelect: onOffered },
          { name: WORDS.exportMarkdown, apart: true, onSelect: () => void exportChat(chat.id, "markdown") },
          { name: WORDS.exportJson, onSelect: () => void exportChat(chat.id, "json") },
          { name: WORDS.delete, apart: true, danger: true, onSelect: () => void deleteChat(chat.id, chat.title) },
        ]}
      />
      {renaming && <Rename chat={chat.id} title={chat.title} onClose={() => setRenaming(false)} onDone={onRenamed} />}
    </>
  );
}

function took(view: ChatView, turns: readonly TurnView[]): string {
  const last = turns.at(-1);
  const now = last?.running ? last.usage : null;
  const tokens = view.usage.input + view.usage.output + (now ? now.input + now.output : 0);
  const calls = turns.reduce((sum, turn) => sum + turn.items.filter((item) => item.kind === "call").length, 0);
  const parts = [
    calls > 0 ? plural(calls, "call") : "",
    tokens > 0 ? spent(tokens) : "",
    view.cost === null ? "" : money(view.cost),
  ];
  return parts.filter(Boolean).join(" · ");
}

interface RenameProps {
  chat: string;
  title: string;
  onClose: () => void;
  onDone: () => void;
}

function Rename({ chat, title, onClose, onDone }: RenameProps) {
  const [name, setName] = useState(title);
  const rename = useAction("chat_rename", "chats");
  function save(event: FormEvent) {
    event.preventDefault();
    if (!name.trim()) return;
    rename.mutate({ chat, title: name.trim() }, { onSuccess: () => { onDone(); onClose(); } });
  }
  return (
    <Dialog title={WORDS.rename} onClose={onClose}>
      <form onSubmit={save} style={{ padding: "0 20px 20px" }}>
        <label className="sr" htmlFor="chat-title">{WORDS.title}</label>
        <div className="field" style={{ margin: "4px 0 14px" }}>
          <input id="chat-title" value={name} maxLength={200} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        </div>
        <button type="submit" className="btn pri" disabled={rename.isPending}>{WORDS.save}</button>
      </form>
    </Dialog>
  );
}

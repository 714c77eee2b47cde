/** The head of a chat: title, calls, tokens and cost, Fork, and the menu with Rename, Pin, Export, "Save as workflow",
 * Delete. */

import { useState, type FormEvent } from "react";

import { useAction } from "../../api/hooks";
import type { ChatView } from "../../api/types";
import { money, plural, tokens as spent } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { deleteChat, exportChat, pinChat, saveAsWorkflow } from "./chatActions";
import type { TurnView } from "./view";
import { TEXT } from "./text";

interface Props {
  view: ChatView | null;
  turns: readonly TurnView[];
  onFork: () => void;
  onOffered: () => void;
  onRenamed: () => void;
}

export function Header({ view, turns, onFork, onOffered, onRenamed }: Props) {
  if (!view)
    return (
      <div className="panel-head hide-narrow">
        <h2 className="grow ellipsis">{TEXT.newChat}</h2>
      </div>
    );
  return (
    <div className="panel-head hide-narrow">
      <h2 className="grow ellipsis" dir="auto">
        {view.chat.title}
      </h2>
      <span className="muted text-small num only-wide">{took(view, turns)}</span>
      <button type="button" className="btn bare small" onClick={onFork}>
        <Icon name="fork" small />
        {TEXT.fork}
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
        trigger={
          <button type="button" className="btn bare small icon-only" aria-label={TEXT.more}>
            <Icon name="dots" small />
          </button>
        }
        entries={[
          ...before,
          { name: TEXT.rename, onSelect: () => setRenaming(true) },
          {
            name: chat.on_top ? TEXT.unpinChat : TEXT.pinChat,
            onSelect: () => void pinChat(chat.id, !chat.on_top).then(onRenamed),
          },
          { name: TEXT.forkHere, onSelect: onFork },
          { name: TEXT.offered, onSelect: onOffered },
          { name: TEXT.saveAsWorkflow, onSelect: () => void saveAsWorkflow(chat.id) },
          { name: TEXT.exportMarkdown, apart: true, onSelect: () => void exportChat(chat.id, "markdown") },
          { name: TEXT.exportJson, onSelect: () => void exportChat(chat.id, "json") },
          { name: TEXT.delete, apart: true, danger: true, onSelect: () => void deleteChat(chat.id, chat.title) },
        ]}
      />
      {renaming && <Rename chat={chat.id} title={chat.title} onClose={() => setRenaming(false)} onDone={onRenamed} />}
    </>
  );
}

function took(view: ChatView, turns: readonly TurnView[]): string {
  const last = turns.at(-1);
  const now = last?.running ? last.usage : null;
  const ended = view.usage.input + view.usage.output;
  const tokens = ended + (now ? now.input + now.output : 0);
  const calls = turns.reduce((sum, turn) => sum + turn.items.filter((item) => item.kind === "call").length, 0);
  const parts = [
    calls > 0 ? plural(calls, "call") : "",
    tokens > 0 ? spent(tokens) : "",
    view.cost !== null ? money(view.cost) : ended > 0 ? TEXT.costUnknown : "",
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
    rename.mutate(
      { chat, title: name.trim() },
      {
        onSuccess: () => {
          onDone();
          onClose();
        },
      },
    );
  }
  return (
    <Dialog title={TEXT.rename} onClose={onClose}>
      <form className="dialog-form" onSubmit={save}>
        <label className="visually-hidden" htmlFor="chat-title">
          {TEXT.title}
        </label>
        <div className="field title-field">
          <input
            id="chat-title"
            value={name}
            maxLength={200}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <button type="submit" className="btn primary" disabled={rename.isPending}>
          {TEXT.save}
        </button>
      </form>
    </Dialog>
  );
}

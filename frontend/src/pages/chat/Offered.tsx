/** Which tools the model was offered for this question, and why each; pin one, or ban it from this chat. */

import { useAction } from "../../api/hooks";
import { sentence } from "../../api/errors";
import { Link } from "../../app/router";
import { notify } from "../../app/notices";
import { plural, tokens as spent } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { foundFirst, whyWords } from "./reasons";
import type { OfferedTool, TurnView } from "./view";
import { WORDS } from "./words";

export interface Choice {
  pinned: readonly string[];
  banned: readonly string[];
}

interface Props {
  chat: string | null;
  turn: TurnView | undefined;
  choice: Choice;
  onChoice: (choice: Choice) => void;
  /** The sheet has a title of its own. */
  inSheet?: boolean;
}

export function Offered({ chat, turn, choice, onChoice, inSheet = false }: Props) {
  const save = useAction("chat_tools");
  const offered = foundFirst(turn?.offered ?? []);
  const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
  const missing = choice.banned.filter((name) => !offered.some((tool) => tool.tool === name));
  function choose(next: Choice) {
    onChoice(next);
    if (chat === null) return;
    save.mutate(
      { chat, pinned: [...next.pinned], banned: [...next.banned] },
      { onError: (error) => { onChoice(choice); notify(sentence(error)); } },
    );
  }
  return (
    <>
      <div className="hd">
        <h2 className={inSheet ? "sr" : "grow"}>{WORDS.offered}</h2>
        {offered.length > 0 && <span className="m t12 num">{plural(offered.length, "tool")} · {spent(tokens)}</span>}
      </div>
      {offered.length === 0 && <p className="m t12" style={{ padding: "12px 16px" }}>{WORDS.offeredNone}</p>}
      <ul>
        {offered.map((tool) => (
          <Row key={tool.tool} tool={tool} used={uses(turn, tool.tool)} asks={asksNow(turn, tool.tool)} choice={choice} choose={choose} />
        ))}
        {missing.map((name) => (
          <li key={name} className="of">
            <span className="nm el">{name}</span>
            <span className="x" />
            <p>{WORDS.banned} <Undo name={name} choice={choice} choose={choose} /></p>
          </li>
        ))}
      </ul>
      {turn && turn.of > offered.length && offered.length > 0 && (
        <div style={{ padding: "12px 16px" }} className="t12 m">
          Not offered: {plural(turn.of - offered.length, "ready tool")} scored lower.{" "}
          <Link href={`/tools?q=${encodeURIComponent(turn.question?.text ?? "")}`}>{WORDS.ranking}</Link>
        </div>
      )}
    </>
  );
}

interface RowProps {
  tool: OfferedTool;
  used: number;
  asks: boolean;
  choice: Choice;
  choose: (choice: Choice) => void;
}

function Row({ tool, used, asks, choice, choose }: RowProps) {
  const pinned = choice.pinned.includes(tool.tool);
  const banned = choice.banned.includes(tool.tool);
  return (
    <li className="of">
      <span className="nm el">
        {tool.server !== null && <i>{tool.server} · </i>}
        {tool.name}
      </span>
      <span className="x t11">
        <span className="rest">
          {pinned ? <><Icon name="pin" small />{WORDS.pinned}</> : asks ? "asks now" : used > 0 ? `used ${used}×` : ""}
        </span>
        <span className="do">
          <button
            type="button"
            className="btn bare sm ic"
            aria-label={`${WORDS.pin} ${tool.name}`}
            aria-pressed={pinned}
            onClick={() => choose({ pinned: turned(choice.pinned, tool.tool), banned: choice.banned.filter((name) => name !== tool.tool) })}
          >
            <Icon name="pin" small />
          </button>
          <button
            type="button"
            className="btn bare sm ic"
            aria-label={`${WORDS.ban} ${tool.name}`}
            aria-pressed={banned}
            onClick={() => choose({ banned: turned(choice.banned, tool.tool), pinned: choice.pinned.filter((name) => name !== tool.tool) })}
          >
            <Icon name="ban" small />
          </button>
        </span>
      </span>
      <p>{banned ? <>{WORDS.banned} <Undo name={tool.tool} choice={choice} choose={choose} /></> : whyWords(tool.why)}</p>
    </li>
  );
}

function Undo({ name, choice, choose }: { name: string; choice: Choice; choose: (choice: Choice) => void }) {
  return (
    <button type="button" className="plain linkish" onClick={() => choose({ ...choice, banned: choice.banned.filter((one) => one !== name) })}>
      {WORDS.undo}
    </button>
  );
}

function turned(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
}

function uses(turn: TurnView | undefined, tool: string): number {
  return turn?.items.filter((item) => item.kind === "call" && item.tool === tool).length ?? 0;
}

function asksNow(turn: TurnView | undefined, tool: string): boolean {
  return turn?.items.some((item) => item.kind === "call" && item.tool === tool && item.asking !== null) ?? false;
}

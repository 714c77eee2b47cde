/** The panel "Offered this turn": which tools the model was offered for this question, and why each; pin one, or block
 * it in this chat. The host ranks the tools. */

import { useAction } from "../../api/hooks";
import { sentence } from "../../api/errors";
import { Link } from "../../app/router";
import { notify } from "../../app/notices";
import { plural, tokens as spent } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { allFit, foundFirst, whyText } from "./reasons";
import type { OfferedTool, TurnView } from "./view";
import { TEXT } from "./text";
import "./offered.css";

export interface Choice {
  pinned: readonly string[];
  banned: readonly string[];
  /** Changed here: sent with the next message too, which must not overtake it. */
  changed?: boolean;
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
    onChoice({ ...next, changed: true });
    if (chat === null) return;
    save.mutate(
      { chat, pinned: [...next.pinned], banned: [...next.banned] },
      {
        onError: (error) => {
          onChoice(choice);
          notify(sentence(error));
        },
      },
    );
  }
  return (
    <>
      <div className="panel-head">
        <h2 className={inSheet ? "visually-hidden" : "grow"}>{TEXT.offered}</h2>
        {offered.length > 0 && (
          <span className="muted text-small num">
            {plural(offered.length, "tool")} · {spent(tokens)}
          </span>
        )}
      </div>
      {allFit(offered) && <p className="muted text-small offered-hint">{TEXT.allFit(offered.length)}</p>}
      {offered.length === 0 && <p className="muted text-small offered-hint">{TEXT.offeredNone}</p>}
      <ul>
        {offered.map((tool) => (
          <Row
            key={tool.tool}
            tool={tool}
            used={uses(turn, tool.tool)}
            asks={asksNow(turn, tool.tool)}
            choice={choice}
            choose={choose}
          />
        ))}
        {missing.map((name) => (
          <li key={name} className="offered-tool">
            <span className="tool-name ellipsis">{name}</span>
            <span className="offered-state" />
            <p>
              {TEXT.banned} <Undo name={name} choice={choice} choose={choose} />
            </p>
          </li>
        ))}
      </ul>
      {turn && turn.of > offered.length && offered.length > 0 && (
        <div className="text-small muted offered-hint">
          Not offered: {plural(turn.of - offered.length, "ready tool")} scored lower.{" "}
          <Link href={`/tools?q=${encodeURIComponent(turn.question?.text ?? "")}`}>{TEXT.ranking}</Link>
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
  const why = whyText(tool.why);
  return (
    <li className="offered-tool">
      <span className="tool-name ellipsis">
        {tool.server !== null && <i>{tool.server} · </i>}
        {tool.name}
      </span>
      <span className="offered-state text-tiny">
        <span className="offered-note">
          {pinned ? (
            <>
              <Icon name="pin" small />
              {TEXT.pinned}
            </>
          ) : asks ? (
            "needs approval"
          ) : used > 0 ? (
            `used ${used}×`
          ) : (
            ""
          )}
        </span>
        <span className="offered-actions">
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={`${TEXT.pin} ${tool.name}`}
            aria-pressed={pinned}
            onClick={() =>
              choose({
                pinned: turned(choice.pinned, tool.tool),
                banned: choice.banned.filter((name) => name !== tool.tool),
              })
            }
          >
            <Icon name="pin" small />
          </button>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={`${TEXT.ban} ${tool.name}`}
            aria-pressed={banned}
            onClick={() =>
              choose({
                banned: turned(choice.banned, tool.tool),
                pinned: choice.pinned.filter((name) => name !== tool.tool),
              })
            }
          >
            <Icon name="ban" small />
          </button>
        </span>
      </span>
      {banned ? (
        <p>
          {TEXT.banned} <Undo name={tool.tool} choice={choice} choose={choose} />
        </p>
      ) : (
        why && <p>{why}</p>
      )}
    </li>
  );
}

function Undo({ name, choice, choose }: { name: string; choice: Choice; choose: (choice: Choice) => void }) {
  return (
    <button
      type="button"
      className="plain-button link-button"
      onClick={() => choose({ ...choice, banned: choice.banned.filter((one) => one !== name) })}
    >
      {TEXT.undo}
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

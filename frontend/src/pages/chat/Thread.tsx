/** The conversation: when it follows the end while an answer is streamed, "Jump to latest", what a screen reader
 * hears. Only the turns in view are drawn, and what is being read stays where it is. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

import { Icon } from "../../ui/Icon";
import { showPlace } from "../../ui/foundWord";
import { spoken } from "./callText";
import { sentences } from "./groups";
import { Turn } from "./Turn";
import { isIn, openQuestions, type TurnView } from "./view";
import { TEXT } from "./text";

const NEAR = 48; // Pixels from the end within which the list keeps following.
const GUESS = 220;

interface Props {
  chat: string;
  turns: readonly TurnView[];
  /** The question that the address names. */
  wanted: string | null;
  /** The position of the entry that the address names, to be shown at once. */
  at: number | null;
  /** A word in it that was looked for. */
  find: string;
  /** How often this page has sent something. */
  sent: number;
}

export function Thread({ turns, wanted, chat, at, find, sent }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const follow = useRef(true);
  const view = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESS,
    getItemKey: (index) => index,
    overscan: 1,
  });
  // Only what lies wholly above may push; a turn that grows at its end must not move what is read in it.
  view.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) =>
    !follow.current && item.end <= (instance.scrollOffset ?? 0);
  const height = view.getTotalSize();

  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);
  const heed = useCallback((next: boolean) => {
    follow.current = next;
    setFollowing(next);
  }, []);

  useLayoutEffect(() => {
    heed(true);
    toEnd();
  }, [chat, heed, toEnd]);
  useLayoutEffect(() => {
    if (follow.current) toEnd();
  }, [height, turns, toEnd]);
  useLayoutEffect(() => {
    heed(true); // Who asks wants to see the answer.
    toEnd();
  }, [sent, heed, toEnd]);
  const found = at === null ? -1 : turns.findIndex((turn) => isIn(turn, at));
  const shown = useRef("");
  useEffect(() => {
    const place = `${chat} ${at} ${find}`;
    const element = scroller.current;
    if (found < 0 || !element || shown.current === place) return;
    heed(false);
    const turn = element.querySelector(`[data-index="${found}"]`);
    // Scrolling near draws it; then this is called again.
    if (!turn) element.scrollTop = view.getOffsetForIndex(found, "start")?.[0] ?? 0;
    else {
      shown.current = place;
      showPlace(turn, find);
    }
  });

  function scrolled() {
    const element = scroller.current;
    if (!element) return;
    heed(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  }

  return (
    <div className="scroller-frame">
      <div
        ref={scroller}
        className="scroller"
        onScroll={scrolled}
        tabIndex={0}
        role="region"
        aria-label={TEXT.messages}
      >
        <div className="thread" role="log" aria-label={TEXT.messages} aria-live="off" style={{ height: height + 44 }}>
          {view.getVirtualItems().map((row) => {
            const turn = turns[row.index];
            if (!turn) return null;
            return (
              <div
                key={row.key}
                ref={view.measureElement}
                data-index={row.index}
                className={row.index === found ? "thread-item found" : "thread-item"}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <Turn turn={turn} last={row.index === turns.length - 1} wanted={wanted} />
              </div>
            );
          })}
        </div>
      </div>
      {!following && (
        <button
          type="button"
          className="btn small newest-button"
          onClick={() => {
            heed(true);
            toEnd();
          }}
        >
          {TEXT.newest} <Icon name="down" small />
        </button>
      )}
      <Spoken turn={turns.at(-1)} />
    </div>
  );
}

/** For a screen reader: sentence by sentence, card by card, and a question at once. */
function Spoken({ turn }: { turn: TurnView | undefined }) {
  const [words, setWords] = useState("");
  const heard = useRef({ text: "", item: "" });
  const item = turn?.running ? turn.items.at(-1) : undefined;
  const whole = item?.kind === "text" ? sentences(item.text) : item?.kind === "call" ? spoken(item) : "";
  const question = openQuestions(turn)[0];
  useEffect(() => {
    if (!whole || !item) return;
    const before = heard.current.item === item.key ? heard.current.text : "";
    const fresh = whole.startsWith(before) && item.kind === "text" ? whole.slice(before.length) : whole;
    if (fresh.trim()) setWords(fresh);
    heard.current = { text: whole, item: item.key };
  }, [whole, item]);
  const title = question ? (question.about === "call" ? question.detail.title : question.text) : "";
  return (
    <>
      <div className="visually-hidden" aria-live="polite">
        {words}
      </div>
      <div className="visually-hidden" role="alert">
        {title && `Approval needed: ${title} Press exclamation mark to go there.`}
      </div>
    </>
  );
}

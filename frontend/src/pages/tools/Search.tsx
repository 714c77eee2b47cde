import { useEffect, useRef, type KeyboardEvent } from "react";

import type { Ranking } from "../../api/types";
import { isLed } from "../../app/keys";
import { duration } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Segments } from "../../ui/Segments";
import { tokens, WORDS } from "./words";

export type By = "question" | "name";

interface Props {
  text: string;
  by: By;
  ranking: Ranking | null;
  onText: (text: string) => void;
  onBy: (by: By) => void;
  onSettings: () => void;
}

/** The one field of the page, and how its words are meant. */
export function Search({ text, by, ranking, onText, onBy, onSettings }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Not on a touch screen, where a keyboard would come up over the list.
    const free = document.activeElement === document.body && !isLed();
    if (free && matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);
  function keys(event: KeyboardEvent) {
    if (event.key === "ArrowDown") document.querySelector<HTMLElement>(".p-tools [data-row]")?.focus();
    else if (event.key === "Escape" && text) onText("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <>
      <label className="field big">
        <Icon name="search" />
        <input ref={field} data-search value={text} aria-label={WORDS.search} placeholder={WORDS.search} autoComplete="off" spellCheck={false} onChange={(event) => onText(event.target.value)} onKeyDown={keys} />
        {text && <kbd className="hide-s">Esc</kbd>}
      </label>
      <div className="opt">
        <Segments
          label={WORDS.searchAs}
          value={by}
          options={[{ value: "question", name: WORDS.asQuestion }, { value: "name", name: WORDS.byName }]}
          onChange={onBy}
        />
        {ranking && <Offers ranking={ranking} />}
        <button type="button" className="plain linkish" style={{ marginLeft: "auto" }} onClick={onSettings}>{WORDS.settings}</button>
      </div>
    </>
  );
}

function Offers({ ranking }: { ranking: Ranking }) {
  return (
    <>
      <span className="num">
        {ranking.all_offered ? (
          <>Offers <b className="bb">all {ranking.offered}</b>: there are no more than {ranking.offer_all}</>
        ) : (
          <>Offers the best <b className="bb">{ranking.k}</b> and <b className="bb">{ranking.always_on}</b> always on</>
        )}
      </span>
      <span className="num">{tokens(ranking)}</span>
      <span className="num m">ranked in {duration(Math.max(1, ranking.ms))}</span>
    </>
  );
}

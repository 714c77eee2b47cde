/** The search field of the Tools page: "As a question" or "By name", when it gets the focus, and the line "Top 8
 * offered". */

import { useEffect, useRef, type KeyboardEvent } from "react";

import type { Ranking } from "../../api/types";
import { isLed } from "../../app/keys";
import { duration } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Segments } from "../../ui/Segments";
import { tokens, TEXT } from "./text";

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
    if (event.key === "ArrowDown") document.querySelector<HTMLElement>(".page-tools [data-row]")?.focus();
    else if (event.key === "Escape" && text) onText("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <>
      <label className="field search-field">
        <Icon name="search" />
        <input
          ref={field}
          data-search
          value={text}
          aria-label={TEXT.search}
          placeholder={TEXT.search}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={keys}
        />
        {text && <kbd className="hide-narrow">Esc</kbd>}
      </label>
      <div className="search-options">
        <Segments
          label={TEXT.searchAs}
          value={by}
          options={[
            { value: "question", name: TEXT.asQuestion },
            { value: "name", name: TEXT.byName },
          ]}
          onChange={onBy}
        />
        {ranking && <Offers ranking={ranking} />}
        <button type="button" className="plain-button link-button push-end" onClick={onSettings}>
          {TEXT.settings}
        </button>
      </div>
    </>
  );
}

function Offers({ ranking }: { ranking: Ranking }) {
  return (
    <>
      <span className="num">
        {ranking.all_offered ? (
          <>
            <b className="bold">All {ranking.offered}</b> tools offered (below the limit of {ranking.offer_all})
          </>
        ) : (
          <>
            Top <b className="bold">{ranking.k}</b> offered, plus <b className="bold">{ranking.always_on}</b> always on
          </>
        )}
      </span>
      <span className="num">{tokens(ranking)}</span>
      <span className="num muted">ranked in {duration(Math.max(1, ranking.ms))}</span>
    </>
  );
}

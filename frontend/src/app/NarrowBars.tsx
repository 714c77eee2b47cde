/** The bars of a narrow window: title, back, search and theme above; tabs and "More" below. */

import { useState } from "react";

import { useOperation } from "../api/hooks";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { Glyph } from "../ui/Status";
import { needPath } from "./needs";
import { PLACES, placeAt } from "./places";
import { NeedsYou } from "./Rail";
import { Link, usePath } from "./router";
import { switchTheme } from "./theme";
import { useGivenTitle } from "./title";

export function TopBar({ onFind }: { onFind: () => void }) {
  const path = usePath();
  const given = useGivenTitle();
  const place = placeAt(path);
  const inside = path.split("/").filter(Boolean).length > 1;
  return (
    <header className={inside ? "top-bar nested" : "top-bar"}>
      {inside && place && (
        <Link className="btn bare icon-only back-button" href={place.path} aria-label="Back">
          <Icon name="back" />
        </Link>
      )}
      <b className="ellipsis" data-top-title>
        {given ?? place?.title ?? "Toolcrib"}
      </b>
      <span className="push-end" />
      <button type="button" className="btn bare icon-only" aria-label="Search" onClick={onFind}>
        <Icon name="search" />
      </button>
      <button type="button" className="btn bare icon-only" aria-label="Switch theme" onClick={switchTheme}>
        <Icon name="theme" />
      </button>
    </header>
  );
}

export function BottomTabs() {
  const here = placeAt(usePath());
  const { data } = useOperation("waiting", {});
  const [more, setMore] = useState(false);
  const waits = new Set((data?.items ?? []).map((need) => placeAt(needPath(need).split("?")[0] ?? "")?.page));
  const hidden = PLACES.filter((place) => !place.tab);
  return (
    <nav className="bottom-tabs" aria-label="Main">
      {PLACES.filter((place) => place.tab).map((place) => (
        <Link
          key={place.page}
          href={place.path}
          className={place === here ? "selected" : ""}
          aria-current={place === here ? "page" : undefined}
        >
          <Icon name={place.icon} />
          {place.title}
          {waits.has(place.page) && <Waits />}
        </Link>
      ))}
      <a
        href="#more"
        role="button"
        className={here && !here.tab ? "selected" : ""}
        onClick={(event) => {
          event.preventDefault();
          setMore(true);
        }}
      >
        <Icon name="more" />
        More
      </a>
      {more && (
        <Dialog title="More" onClose={() => setMore(false)}>
          <div className="more-menu" onClick={(event) => (event.target as HTMLElement).closest("a") && setMore(false)}>
            {hidden.map((place) => (
              <Link key={place.page} className="nav more-link" href={place.path}>
                <Icon name={place.icon} />
                {place.title}
              </Link>
            ))}
            <NeedsYou all />
          </div>
        </Dialog>
      )}
    </nav>
  );
}

function Waits() {
  return (
    <span className="waiting-dot">
      <Glyph shape="need" />
      <span className="visually-hidden">waiting for you</span>
    </span>
  );
}

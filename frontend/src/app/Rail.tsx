/** The navigation at the left: pages with counts of servers and tools, and the list "Needs you" with how many of its
 * items are shown. */

import { refreshOn, useOperation } from "../api/hooks";
import { thousands } from "../ui/amounts";
import { Icon } from "../ui/Icon";
import { MOD } from "../ui/platform";
import { Glyph } from "../ui/Status";
import { needPath, needText } from "./needs";
import { PLACES, placeAt, type Place } from "./places";
import { Link, usePath } from "./router";
import { switchTheme } from "./theme";

refreshOn("waiting", "waiting", "host_info");
refreshOn("server", "host_info", "waiting", "servers");
refreshOn("server_removed", "host_info", "waiting", "servers");
refreshOn("tools", "host_info", "waiting", "servers");
refreshOn("config", "host_info", "waiting", "servers");

const SHOWN = 5;

/** The main navigation, with counts and what waits for the user. */
export function Rail({ onFind }: { onFind: () => void }) {
  const here = placeAt(usePath());
  return (
    <nav className="rail" aria-label="Main">
      <div className="brand">
        <svg aria-hidden="true">
          <use href="#logo" />
        </svg>
        Toolcrib
        <button
          type="button"
          className="btn bare icon-only small push-end"
          aria-label="Switch theme"
          onClick={switchTheme}
        >
          <Icon name="theme" small />
        </button>
      </div>
      <button type="button" className="palette-button" onClick={onFind}>
        <Icon name="search" small />
        Search…
        <span aria-hidden="true">
          <kbd>{MOD}</kbd>
          <kbd>K</kbd>
        </span>
      </button>
      {PLACES.map((place) => (
        <RailLink key={place.page} place={place} here={place === here} />
      ))}
      <NeedsYou />
    </nav>
  );
}

function RailLink({ place, here }: { place: Place; here: boolean }) {
  return (
    <Link className={here ? "nav selected" : "nav"} href={place.path} aria-current={here ? "page" : undefined}>
      <Icon name={place.icon} />
      {place.title}
      <span className="count">{useCount(place)}</span>
    </Link>
  );
}

function useCount(place: Place): string {
  const { data } = useOperation("host_info", {});
  if (!data) return "";
  if (place.page === "servers") return thousands(data.counts.servers);
  if (place.page === "tools") return thousands(data.counts.tools);
  return "";
}

/** The list of everything that waits for the user. */
export function NeedsYou({ all = false }: { all?: boolean }) {
  const { data } = useOperation("waiting", {});
  const items = data?.items ?? [];
  const shown = all ? items : items.slice(0, SHOWN);
  return (
    <section className="needs-you" aria-label="Needs you">
      <div className="group-label">
        Needs you
        <span className="num push-end">{items.length || ""}</span>
      </div>
      {data && items.length === 0 && (
        <p className="muted text-small needs-empty">
          Nothing right now. Anything waiting for your decision appears here.
        </p>
      )}
      {shown.map((need, index) => {
        const words = needText(need);
        return (
          <Link key={need.id ?? `${need.kind}:${need.server}:${index}`} href={needPath(need)}>
            <Glyph shape="need" />
            <b>{words.what}</b>
            <i className="ellipsis">{words.where}</i>
          </Link>
        );
      })}
      {items.length > shown.length && (
        <Link className="needs-more" href="/activity?tab=waiting">
          {items.length - shown.length} more
        </Link>
      )}
    </section>
  );
}

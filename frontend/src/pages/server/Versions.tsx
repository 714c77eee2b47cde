/** The panel Versions: installed versions, "Check for updates", "Update to …", Roll back. The host keeps the
 * versions. */

import { useState } from "react";

import { run } from "../../api/client";
import { useOperation } from "../../api/hooks";
import type { VersionLook } from "../../api/types";
import { day } from "../../ui/amounts";
import { Glyph } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { TestDialog } from "../add/TestDialog";
import { rollBack } from "./RollBack";
import { UpdateDialog } from "./UpdateDialog";
import { TEXT } from "./text";

/** The installed versions, and a check for updates on request. */
export function Versions({ name, whole = false }: { name: string; whole?: boolean }) {
  const kept = useOperation("versions", { name }).data;
  const [looked, setLooked] = useState<VersionLook | null>(null);
  const [looking, setLooking] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [updating, setUpdating] = useState(false);
  const [followed, setFollowed] = useState(false);
  const known = useOperation("overview", {}).data?.servers.find((one) => one.name === name)?.newest;
  const newest = looked ? (looked.outdated ? looked.newest : null) : known;
  if (!kept || (kept.length === 0 && !whole)) return null;

  async function look() {
    setLooking(true);
    setTrouble(null);
    try {
      const [found] = await run("outdated", { name });
      setLooked(found ?? null);
      if (found?.error) setTrouble(new Error(found.error.message));
    } catch (error) {
      setTrouble(error);
    }
    setLooking(false);
  }

  return (
    <section className={whole ? "panel versions" : "panel versions space-above-16"} aria-label={TEXT.versions}>
      <div className="panel-head">
        <h2>{TEXT.versions}</h2>
        <span className="muted text-small grow">{TEXT.nothingUpdates}</span>
        {kept.length > 0 && !newest && (
          <button type="button" className="btn bare small" disabled={looking} onClick={() => void look()}>
            {looking ? "Checking…" : looked ? "Up to date" : "Check for updates"}
          </button>
        )}
        {newest && (
          <button type="button" className="btn small" onClick={() => setUpdating(true)}>
            Update to {newest}…
          </button>
        )}
      </div>
      {kept.length === 0 && <p className="muted versions-empty">{TEXT.notInstalled}</p>}
      {kept.map((one) => (
        <div key={`${one.version} ${one.installed_at}`} className="version-row">
          <Glyph shape={one.active ? "ok" : "off"} />
          <span>
            <b className="medium num">{one.version}</b>{" "}
            <span className="muted text-small">
              {one.active ? `active, installed ${day(one.installed_at)}` : `kept, installed ${day(one.installed_at)}`}
            </span>
          </span>
          {one.active ? (
            <span />
          ) : (
            <button type="button" className="btn bare small" onClick={() => void rollBack(name, one.version)}>
              Roll back
            </button>
          )}
        </div>
      ))}
      {trouble !== null && (
        <div className="versions-error">
          <ErrorBox error={trouble} />
        </div>
      )}
      {updating && newest && (
        <UpdateDialog
          name={name}
          to={newest}
          onClose={() => setUpdating(false)}
          onBegun={() => (setUpdating(false), setLooked(null), setFollowed(true))}
        />
      )}
      {followed && <TestDialog name={name} shown onClose={() => setFollowed(false)} onFix={() => setFollowed(false)} />}
    </section>
  );
}

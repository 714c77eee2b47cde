import { useState } from "react";

import { run } from "../../api/client";
import { useOperation } from "../../api/hooks";
import type { VersionLook } from "../../api/types";
import { day } from "../../ui/amounts";
import { Glyph } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { TestDialog } from "../add/TestDialog";
import { rollBack } from "./RollBack";
import { UpdateDialog } from "./UpdateDialog";
import { WORDS } from "./words";

/** Which versions lie here, and a look whether there is a newer one, when somebody asks. */
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
    <section className="panel" style={{ marginTop: whole ? 0 : 16, maxWidth: 640 }} aria-label={WORDS.versions}>
      <div className="hd">
        <h2>{WORDS.versions}</h2>
        <span className="m t12 grow">{WORDS.nothingUpdates}</span>
        {kept.length > 0 && !newest && (
          <button type="button" className="btn bare sm" disabled={looking} onClick={() => void look()}>
            {looking ? "Looking…" : looked ? "No newer one" : "Look for a newer one"}
          </button>
        )}
        {newest && (
          <button type="button" className="btn sm" onClick={() => setUpdating(true)}>
            Update to {newest}…
          </button>
        )}
      </div>
      {kept.length === 0 && <p className="m" style={{ padding: "12px 14px" }}>{WORDS.notInstalled}</p>}
      {kept.map((one) => (
        <div key={`${one.version} ${one.installed_at}`} className="ver">
          <Glyph shape={one.active ? "ok" : "off"} />
          <span>
            <b className="b num">{one.version}</b>{" "}
            <span className="m t12">{one.active ? `active, installed ${day(one.installed_at)}` : `kept, installed ${day(one.installed_at)}`}</span>
          </span>
          {one.active ? <span /> : (
            <button type="button" className="btn bare sm" onClick={() => void rollBack(name, one.version)}>Roll back</button>
          )}
        </div>
      ))}
      {trouble !== null && <div style={{ padding: 12 }}><Trouble error={trouble} /></div>}
      {updating && newest && <UpdateDialog name={name} to={newest} onClose={() => setUpdating(false)} onBegun={() => (setUpdating(false), setLooked(null), setFollowed(true))} />}
      {followed && <TestDialog name={name} shown onClose={() => setFollowed(false)} onFix={() => setFollowed(false)} />}
    </section>
  );
}

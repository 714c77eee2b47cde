import { useEffect, useState, type ReactNode } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { Trouble } from "../../ui/Trouble";
import { About } from "./About";
import { Appearance } from "./Appearance";
import { Asking } from "./Asking";
import { GROUPS, matches, type Group } from "./catalogue";
import { Doctor } from "./Doctor";
import { ModelsSection } from "./ModelsSection";
import "./page.css";
import { settingAt } from "./saving";
import { Secrets } from "./Secrets";
import { SettingRow } from "./SettingRow";
import { WORDS } from "./words";

refreshOn("config", "settings_show", "models");

const SECTIONS = ["Models", "When to ask", "Limits", "Folders", "Terminal", "Tool choice", "Appearance", "Secrets", "Doctor", "About"] as const;
type Section = (typeof SECTIONS)[number];

const IDS: Record<Section, string> = {
  Models: "models", "When to ask": "asking", Limits: "limits", Folders: "folders", Terminal: "terminal",
  "Tool choice": "choice", Appearance: "appearance", Secrets: "secrets", Doctor: "doctor", About: "about",
};

/** Everything that can be set, in one column, saved as it is changed. */
export default function SettingsPage() {
  const shown = useOperation("settings_show", {});
  const [words, setWords] = useState("");
  const [here, setHere] = useState<Section>("Models");
  const loaded = shown.data !== undefined;
  useEffect(() => {
    if (loaded && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [loaded]);
  const settings = shown.data?.settings ?? {};

  function rows(group: Group): ReactNode {
    return group.rows.filter((row) => !words || matches(row, words)).map((row) => <SettingRow key={row.key} row={row} value={settingAt(settings, row.key)} />);
  }

  function go(section: Section) {
    setHere(section);
    setWords("");
    history.replaceState(null, "", `#${IDS[section]}`);
    requestAnimationFrame(() => document.getElementById(IDS[section])?.scrollIntoView());
  }

  return (
    <div className="page">
      <div className="ph1">
        <div className="grow">
          <h1>{WORDS.title}</h1>
          <p>{WORDS.about}</p>
        </div>
        <label className="field hide-s" style={{ width: 240 }}>
          <Icon name="search" small />
          <input data-search placeholder={WORDS.find} aria-label={WORDS.find} value={words} onChange={(event) => setWords(event.target.value)} />
          <kbd>/</kbd>
        </label>
      </div>
      {shown.error && <Trouble error={shown.error} again={() => void shown.refetch()} />}
      {shown.isPending && <Loading />}
      {shown.data && (
        <div className="sx">
          <nav className="sn" aria-label={WORDS.title}>
            {SECTIONS.map((section) => (
              <button key={section} type="button" className={section === here ? "on" : ""} aria-current={section === here ? "true" : undefined} onClick={() => go(section)}>
                {section}
              </button>
            ))}
          </nav>
          {words ? (
            <Found>{Object.values(GROUPS).flatMap((group) => rows(group))}</Found>
          ) : (
            <div>
              <ModelsSection>{rows(GROUPS.models)}</ModelsSection>
              <Asking mode={String(settingAt(settings, "approvals.mode"))}>{rows(GROUPS.asking)}</Asking>
              {[GROUPS.limits, GROUPS.folders, GROUPS.terminal, GROUPS.choice].map((group) => (
                <section key={group.id} className="sg" id={group.id}>
                  <h2>{group.title}</h2>
                  {rows(group)}
                </section>
              ))}
              <Appearance />
              <Secrets />
              <Doctor />
              <About file={shown.data.file} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Found({ children }: { children: ReactNode[] }) {
  const some = children.flat().length > 0;
  return <section className="sg">{some ? children : <p className="empty">{WORDS.nothing}</p>}</section>;
}

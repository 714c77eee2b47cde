import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { useChosenInView } from "../../ui/strip";
import { Trouble } from "../../ui/Trouble";
import { About } from "./About";
import { AnySetting } from "./AnySetting";
import { Appearance } from "./Appearance";
import { Asking } from "./Asking";
import { GROUPS, matches, SECTION_WORDS, type Group } from "./catalogue";
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
  const { pin } = useSectionInView(loaded && !words, setHere);
  const strip = useChosenInView<HTMLElement>(here);
  const settings = shown.data?.settings ?? {};

  function rows(group: Group): ReactNode[] {
    return group.rows.filter((row) => !words || matches(row, words)).map((row) => <SettingRow key={row.key} row={row} value={settingAt(settings, row.key)} />);
  }

  const sections: Record<keyof typeof SECTION_WORDS, ReactNode> = {
    models: <ModelsSection key="models">{words ? null : rows(GROUPS.models)}</ModelsSection>,
    asking: <Asking key="asking" mode={String(settingAt(settings, "approvals.mode"))}>{words ? null : rows(GROUPS.asking)}</Asking>,
    appearance: <Appearance key="appearance" />,
    secrets: <Secrets key="secrets" />,
    doctor: <Doctor key="doctor" />,
    about: <About key="about" file={shown.data?.file ?? ""} />,
  };

  /** Those sections that are looked for as a whole. */
  function special(wanted: string): ReactNode[] {
    const names = Object.keys(SECTION_WORDS) as (keyof typeof SECTION_WORDS)[];
    return names.filter((name) => matches({ name: SECTION_WORDS[name], about: "" }, wanted)).map((name) => sections[name]);
  }

  function go(section: Section) {
    pin();
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
          <nav className="sn" aria-label={WORDS.title} ref={strip}>
            {SECTIONS.map((section) => (
              <button key={section} type="button" className={section === here ? "on" : ""} aria-current={section === here ? "true" : undefined} onClick={() => go(section)}>
                {section}
              </button>
            ))}
          </nav>
          {words ? (
            <Found rows={Object.values(GROUPS).flatMap((group) => rows(group))} sections={special(words)} />
          ) : (
            <div>
              {sections.models}
              {sections.asking}
              {[GROUPS.limits, GROUPS.folders, GROUPS.terminal, GROUPS.choice].map((group) => (
                <section key={group.id} className="sg" id={group.id}>
                  <h2>{group.title}</h2>
                  {rows(group)}
                  {group === GROUPS.limits && <AnySetting shown={shown.data} />}
                </section>
              ))}
              {sections.appearance}
              {sections.secrets}
              {sections.doctor}
              {sections.about}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Which section is being read, as one scrolls. */
function useSectionInView(there: boolean, onSection: (section: Section) => void): { pin: () => void } {
  const pinned = useRef(0);
  useEffect(() => {
    if (!there) return;
    const watcher = new IntersectionObserver(
      (seen) => {
        const found = SECTIONS.find((section) => seen.some((one) => one.isIntersecting && one.target.id === IDS[section]));
        if (found && Date.now() > pinned.current) onSection(found);
      },
      { rootMargin: "-12% 0px -80% 0px" },
    );
    for (const id of Object.values(IDS)) {
      const section = document.getElementById(id);
      if (section) watcher.observe(section);
    }
    return () => watcher.disconnect();
  }, [there, onSection]);
  // Whoever chose a section has it marked, also where it is too near to the end to come to the top.
  return useMemo(() => ({ pin: () => (pinned.current = Date.now() + 1000) }), []);
}

function Found({ rows, sections }: { rows: ReactNode[]; sections: ReactNode[] }) {
  return (
    <div>
      {rows.length > 0 && <section className="sg">{rows}</section>}
      {sections}
      {rows.length + sections.length === 0 && <p className="empty">{WORDS.nothing}</p>}
    </div>
  );
}

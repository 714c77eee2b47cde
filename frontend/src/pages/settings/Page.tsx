/** The Settings page: its sections and their order, search over all settings, and the section that is marked while
 * scrolling. */

import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { useChosenInView } from "../../ui/chosenInView";
import { ErrorBox } from "../../ui/ErrorBox";
import { AccountsSection } from "../accounts/AccountsSection";
import { About } from "./About";
import { AnySetting } from "./AnySetting";
import { Appearance } from "./Appearance";
import { ModeSection } from "./ModeSection";
import { GROUPS, matches, SECTION_KEYWORDS, type Group } from "./settingRows";
import { Doctor } from "./Doctor";
import { ModelsSection } from "./ModelsSection";
import "./page.css";
import { settingAt } from "./saveSetting";
import { Secrets } from "./Secrets";
import { SettingRow } from "./SettingRow";
import { TEXT } from "./text";

refreshOn("config", "settings_show", "models");

const SECTIONS = [
  "Models",
  "Accounts",
  "Approvals",
  "Limits",
  "Folders",
  "Terminal",
  "Tool choice",
  "Appearance",
  "Secrets",
  "Doctor",
  "About",
] as const;
type Section = (typeof SECTIONS)[number];

const IDS: Record<Section, string> = {
  Models: "models",
  Accounts: "accounts",
  Approvals: "asking",
  Limits: "limits",
  Folders: "folders",
  Terminal: "terminal",
  "Tool choice": "choice",
  Appearance: "appearance",
  Secrets: "secrets",
  Doctor: "doctor",
  About: "about",
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
  const wanted = useSearch().get("setting");
  useEffect(() => {
    if (!loaded || !wanted) return;
    setWords("");
    setSearch({ setting: null });
    // After the search dialog has given the focus back.
    requestAnimationFrame(() => showSetting(wanted));
  }, [loaded, wanted]);
  const { pin } = useSectionInView(loaded && !words, setHere);
  const strip = useChosenInView<HTMLElement>(here);
  const settings = shown.data?.settings ?? {};

  function rows(group: Group): ReactNode[] {
    return group.rows
      .filter((row) => !words || matches(row, words))
      .map((row) => <SettingRow key={row.key} row={row} value={settingAt(settings, row.key)} />);
  }

  const sections: Record<keyof typeof SECTION_KEYWORDS, ReactNode> = {
    models: <ModelsSection key="models">{words ? null : rows(GROUPS.models)}</ModelsSection>,
    accounts: <AccountsSection key="accounts" />,
    asking: (
      <ModeSection key="asking" mode={String(settingAt(settings, "approvals.mode"))}>
        {words ? null : rows(GROUPS.asking)}
      </ModeSection>
    ),
    appearance: <Appearance key="appearance" />,
    secrets: <Secrets key="secrets" />,
    doctor: <Doctor key="doctor" />,
    about: <About key="about" file={shown.data?.file ?? ""} />,
  };

  /** Those sections that are looked for as a whole. */
  function special(wanted: string): ReactNode[] {
    const names = Object.keys(SECTION_KEYWORDS) as (keyof typeof SECTION_KEYWORDS)[];
    return names
      .filter((name) => matches({ name: SECTION_KEYWORDS[name], about: "" }, wanted))
      .map((name) => sections[name]);
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
      <div className="page-head">
        <div className="grow">
          <h1>{TEXT.title}</h1>
          <p>{TEXT.about}</p>
        </div>
        <label className="field hide-narrow settings-search">
          <Icon name="search" small />
          <input
            data-search
            placeholder={TEXT.find}
            aria-label={TEXT.find}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          <kbd>/</kbd>
        </label>
      </div>
      {shown.error && <ErrorBox error={shown.error} again={() => void shown.refetch()} />}
      {shown.isPending && <Loading />}
      {shown.data && (
        <div className="settings-layout">
          <nav className="section-nav" aria-label={TEXT.title} ref={strip}>
            {SECTIONS.map((section) => (
              <button
                key={section}
                type="button"
                className={section === here ? "selected" : ""}
                aria-current={section === here ? "true" : undefined}
                onClick={() => go(section)}
              >
                {section}
              </button>
            ))}
          </nav>
          {words ? (
            <Found rows={Object.values(GROUPS).flatMap((group) => rows(group))} sections={special(words)} />
          ) : (
            <div>
              {sections.models}
              {sections.accounts}
              {sections.asking}
              {[GROUPS.limits, GROUPS.folders, GROUPS.terminal, GROUPS.choice].map((group) => (
                <section key={group.id} className="settings-section" id={group.id}>
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

/** A setting or a section, with the focus on its first control. */
function showSetting(id: string): void {
  const found = document.getElementById(id);
  found?.scrollIntoView({ block: found.matches("section") ? "start" : "center" });
  found?.querySelector<HTMLElement>("input, [role=switch], [role=radio][tabindex='0'], button")?.focus();
}

/** Which section is being read, as one scrolls. */
function useSectionInView(there: boolean, onSection: (section: Section) => void): { pin: () => void } {
  const pinned = useRef(0);
  useEffect(() => {
    if (!there) return;
    const watcher = new IntersectionObserver(
      (seen) => {
        const found = SECTIONS.find((section) =>
          seen.some((one) => one.isIntersecting && one.target.id === IDS[section]),
        );
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
  // A chosen section is marked, even if it is too close to the end to scroll to the top.
  return useMemo(() => ({ pin: () => (pinned.current = Date.now() + 1000) }), []);
}

function Found({ rows, sections }: { rows: ReactNode[]; sections: ReactNode[] }) {
  return (
    <div>
      {rows.length > 0 && <section className="settings-section">{rows}</section>}
      {sections}
      {rows.length + sections.length === 0 && <p className="empty">{TEXT.nothing}</p>}
    </div>
  );
}

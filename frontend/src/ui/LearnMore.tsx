/** "Learn more", a link to a page of the documentation at `/docs/`; and which page explains which kind of error. */

/** A page and its section, always a constant of ours. Opens in its own tab, so that nothing typed here is lost. */
export function LearnMore({ page, children = "Learn more" }: { page: string; children?: string }) {
  return (
    <a className="learn-more" href={`/docs/${page}`} target="_blank" rel="noopener">
      {children}
    </a>
  );
}

/** The page, and its section, by the kind of an error; kinds whose hint says everything have none. */
export const ERROR_PAGES: Partial<Record<string, string>> = {
  config: "configuration.html",
  missing_variable: "configuration.html#references",
  missing_secret: "configuration.html#secrets",
  database: "backup.html",
  database_unreachable: "scale.html",
  database_key_missing: "scale.html#the-key",
  system: "troubleshooting.html#data-and-secrets",
  host_running: "troubleshooting.html#starting",
  denied: "approvals.html",
  approval_pending: "approvals.html",
  network_refused: "network-guard.html",
  needs_trust: "trust.html",
  tool_changed: "trust.html#tool-definitions",
  install_failed: "install.html",
  spawn_failed: "troubleshooting.html#servers",
  start_failed: "troubleshooting.html#servers",
  server_lacks: "bundled-servers.html",
  unreachable: "remote-servers.html",
  needs_auth: "remote-servers.html",
  hosts_not_confirmed: "remote-servers.html#when-hosts-differ",
  no_model: "models.html",
  model_key: "models.html",
  model_busy: "troubleshooting.html#models",
  model_unreachable: "troubleshooting.html#models",
  context_too_long: "troubleshooting.html#models",
  plan_refused: "workflows-planning.html",
};

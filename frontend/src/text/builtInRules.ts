/** The built-in approval rules as people know them, such as "read-only": one name each for all pages, and what each
 * does. */

export const BUILT_IN_RULES: Record<string, { name: string; about: string }> = {
  shell: {
    name: "command check",
    about: "Commands that only read run, destructive ones are denied, all others need approval.",
  },
  code: { name: "code", about: "Code and keystrokes need approval." },
  own_reading: { name: "read-only", about: "Toolcrib's own read-only tools run without approval." },
  protected_files: {
    name: "protected file",
    about: "Calls that name a file that starts programs, or one of Toolcrib's own files, need approval.",
  },
  private_flow: {
    name: "private data",
    about: "After private data was read, calls that could send it to anyone need approval.",
  },
  untrusted_flow: {
    name: "untrusted content",
    about: "After untrusted content was read, calls that write or send need approval.",
  },
  session_mode: { name: "autonomous session", about: "Starting an autonomous session needs approval." },
  outgoing: {
    name: "sending",
    about: "For clients of the gateway, Toolcrib's own tools that send, invite or delete need approval.",
  },
};

/** Its name; of a rule that another package brings, its own. */
export function builtInName(rule: string): string {
  return BUILT_IN_RULES[rule]?.name ?? rule.replaceAll("_", " ");
}

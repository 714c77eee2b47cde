/** The shapes of all states (running, needs you, failed …) and the logo, drawn once and used by name. */

export function Sprite() {
  return (
    <svg className="sprite" width="0" height="0" aria-hidden="true">
      <defs>
        <symbol id="s-ok" viewBox="0 0 12 12">
          <circle cx="6" cy="6" r="4" fill="var(--ok-g)" />
        </symbol>
        <symbol id="s-done" viewBox="0 0 12 12">
          <path
            d="M2.2 6.4 4.8 9l5-6"
            fill="none"
            stroke="var(--ok-g)"
            strokeWidth="1.8"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </symbol>
        <symbol id="s-need" viewBox="0 0 12 12">
          <path d="M6 .7 11.3 6 6 11.3.7 6Z" fill="var(--need-g)" />
        </symbol>
        <symbol id="s-asked" viewBox="0 0 12 12">
          <path
            d="M6 1.6 10.4 6 6 10.4 1.6 6Z"
            fill="none"
            stroke="var(--off-g)"
            strokeWidth="1.5"
            strokeLinejoin="round"
          />
        </symbol>
        <symbol id="s-fail" viewBox="0 0 12 12">
          <rect x="1" y="1" width="10" height="10" rx="2" fill="var(--fail-g)" />
          <path d="m4 4 4 4m0-4-4 4" stroke="var(--panel)" strokeWidth="1.5" strokeLinecap="round" />
        </symbol>
        <symbol id="s-work" viewBox="0 0 12 12">
          <circle cx="6" cy="6" r="4.4" fill="none" stroke="var(--work-l)" strokeWidth="1.8" />
          <path
            d="M6 1.6A4.4 4.4 0 0 1 10.4 6"
            fill="none"
            stroke="var(--work-g)"
            strokeWidth="1.8"
            strokeLinecap="round"
          />
        </symbol>
        <symbol id="s-retry" viewBox="0 0 12 12">
          <path d="M6 1 11.4 10.6H.6Z" fill="none" stroke="var(--fail-g)" strokeWidth="1.5" strokeLinejoin="round" />
          <path d="M6 4.6v2.5M6 8.9v.1" stroke="var(--fail-g)" strokeWidth="1.5" strokeLinecap="round" />
        </symbol>
        <symbol id="s-off" viewBox="0 0 12 12">
          <circle cx="6" cy="6" r="3.6" fill="none" stroke="var(--off-g)" strokeWidth="1.5" />
        </symbol>
        <symbol id="s-deny" viewBox="0 0 12 12">
          <circle cx="6" cy="6" r="4.6" fill="none" stroke="var(--off-g)" strokeWidth="1.5" />
          <path d="m2.9 9.1 6.2-6.2" stroke="var(--off-g)" strokeWidth="1.5" />
        </symbol>
        <symbol id="s-stop" viewBox="0 0 12 12">
          <rect x="2" y="2" width="8" height="8" rx="1.5" fill="var(--off-g)" />
        </symbol>
        <symbol id="s-wait" viewBox="0 0 12 12">
          <circle cx="6" cy="6" r="4.4" fill="none" stroke="var(--off-g)" strokeWidth="1.4" strokeDasharray="2 1.9" />
        </symbol>
        <symbol id="logo" viewBox="0 0 20 20">
          <rect
            x=".75"
            y=".75"
            width="18.5"
            height="18.5"
            rx="4.8"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
          />
          <g fill="currentColor">
            <circle cx="5.2" cy="5.2" r="1.25" />
            <circle cx="10" cy="5.2" r="1.25" />
            <circle cx="14.8" cy="5.2" r="1.25" />
            <circle cx="5.2" cy="10" r="1.25" />
            <circle cx="5.2" cy="14.8" r="1.25" />
            <circle cx="10" cy="14.8" r="1.25" />
          </g>
          <path d="M12.4 8.6 16.2 12.4 12.4 16.2 8.6 12.4Z" fill="var(--need-g)" />
        </symbol>
      </defs>
    </svg>
  );
}

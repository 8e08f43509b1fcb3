// SPDX-License-Identifier: Apache-2.0
#include "page_parts.hpp"

namespace smd::tool::report {

namespace {

constexpr std::string_view style =
    R"(:root{color-scheme:light dark;--paper:#fff;--ground:#f4f5f7;--ink:#1b1e23;--quiet:#555b66;--line:#d5d9e0;--good:#00755a;--bad:#b34700;--unknown:#555b66;--link:#005a9c}
@media screen and (prefers-color-scheme:dark){:root{--paper:#16181d;--ground:#0e1013;--ink:#e8eaee;--quiet:#a9afba;--line:#343942;--good:#2fbf95;--bad:#ff8c42;--unknown:#a9afba;--link:#6db8f2}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1440px;margin:0 auto;padding:0 16px}
h1{font-size:1.5rem;margin:18px 0 2px}
h2{font-size:1.2rem;margin:0 0 10px}
h3{font-size:1rem;margin:14px 0 6px}
p{margin:6px 0}
a{color:var(--link)}
ul{margin:6px 0;padding-left:20px}
nav{margin:6px 0 12px;display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.9rem}
section,.first>div,.first>figure{background:var(--paper);border:1px solid var(--line);border-radius:8px;padding:14px}
section{margin:14px 0}
.quiet,.remark,footer{color:var(--quiet);font-size:.88rem}
.first{display:grid;gap:14px;grid-template-columns:repeat(auto-fit,minmax(min(100%,370px),1fr));align-items:start}
.first figure{max-width:520px}
@media (min-width:1000px){.first{grid-template-columns:minmax(0,7fr) minmax(0,5fr)}}
.figures{display:grid;gap:18px;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));align-items:start}
.figures>*{min-width:0;max-width:560px}
figure{margin:0;position:relative}
figure svg{display:block;width:100%;height:auto}
.health{border-left:6px solid var(--unknown);padding:2px 0 2px 12px;margin-bottom:10px}
.health.good{border-color:var(--good)}
.health.bad{border-color:var(--bad)}
.headline{font-size:1.25rem;font-weight:600;margin:2px 0}
.good .headline{color:var(--good)}
.bad .headline{color:var(--bad)}
.good .headline::before,.rule.good strong::before{content:"\2713  "}
.bad .headline::before,.rule.bad strong::before{content:"\2717  "}
.unknown .headline::before,.rule.unknown strong::before{content:"?  "}
.rule{border-left:4px solid var(--unknown);padding:1px 0 1px 10px;margin:8px 0}
.rule.good{border-color:var(--good)}
.rule.bad{border-color:var(--bad)}
.lines{list-style:none;padding:0}
.lines .rule{margin:2px 0;padding:0 0 0 10px}
.lines details{margin:0}
.lines summary{color:inherit}
:target{outline:3px solid var(--link);outline-offset:3px}
dl{display:flex;flex-wrap:wrap;gap:8px 26px;margin:0 0 8px}
dl div{min-width:0}
dt{color:var(--quiet);font-size:.82rem}
dd{margin:0}
details{margin:6px 0}
summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;padding:3px 9px;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:normal}
td bdi{overflow-wrap:anywhere}
td:first-child{min-width:9em}
th.n,td{text-align:right;white-space:nowrap}
td:first-child,.t{text-align:left;white-space:normal}
.js th{cursor:pointer}
th[aria-sort=ascending]::after{content:" \25B2"}
th[aria-sort=descending]::after{content:" \25BC"}
pre.command{background:var(--ground);border:1px solid var(--line);border-radius:6px;padding:7px 10px;margin:6px 0;overflow-x:auto;font-size:.82rem;white-space:pre-wrap}
.readout{position:absolute;top:0;right:0;max-width:100%;background:var(--paper);border:1px solid var(--line);border-radius:6px;padding:2px 8px;font-size:.84rem;pointer-events:none}
.js .chart .legend-entry{cursor:pointer}
.chart .off{opacity:.25}
.chart g.hidden{display:none}
@media (max-width:500px){header,main,footer{padding:0 6px}section,.first>div,.first>figure{padding:10px;border-radius:4px}}
@media print{body{background:#fff;font-size:11pt}section,.first>div{border:0;padding:6px 0}figure,.rule,tr{break-inside:avoid}nav,.readout{display:none}a{color:inherit}}
)";

}  // namespace

std::string_view page_style() noexcept { return style; }

}  // namespace smd::tool::report

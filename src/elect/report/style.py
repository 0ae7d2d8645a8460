"""The looks of a report: readable on a phone, on paper and in the dark."""

CSS = """
:root{color-scheme:light dark;--bg:#fbfbf9;--fg:#1c1f23;--dim:#5b626b;--line:#d9dcd6;--card:#fff;--accent:#1f6f8b;
--hot:#c2410c;--d0:#c9d3d8;--d1:#9db8c4;--d2:#6a9bb0;--d3:#3a7a95;--d4:#134e63}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e7e9ea;--dim:#a3abb3;--line:#343a40;--card:#1b1f23;
--accent:#6fc3df;--hot:#ff8a4c;--d0:#3a434a;--d1:#4f6672;--d2:#6590a4;--d3:#83b9d0;--d4:#bfe6f5}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:62rem;background:var(--bg);color:var(--fg);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
header p{color:var(--dim);margin:.2rem 0}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:0 0 .6rem}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;margin:1rem 0}
.pick{font:600 1.1rem/1.4 ui-monospace,SFMono-Regular,Menlo,monospace;color:var(--accent);margin:.2rem 0}
.figures{display:flex;flex-wrap:wrap;gap:.6rem 2rem;margin:.8rem 0 0;padding:0}
.figures div{min-width:7rem}.figures dt{color:var(--dim);font-size:.85rem}
.figures dd{margin:0;font-size:1.25rem;font-weight:600}
.scroll{overflow-x:auto;max-width:100%}
.scroll:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;color:var(--dim);font-size:.88rem;padding-bottom:.4rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;border-bottom:1px solid var(--line)}
th,td{overflow-wrap:break-word}th[scope=row]{max-width:20rem}td.long{overflow-wrap:anywhere}
thead th{vertical-align:bottom;color:var(--dim);font-weight:600}
th[scope=row]{font-weight:600}td.num,th.num{text-align:right;font-variant-numeric:tabular-nums}td.num{white-space:nowrap}
td ul{margin:0;padding:0;list-style:none}td li{padding:.05rem 0}
.usual,.dim{color:var(--dim)}.yes{color:var(--hot);font-weight:600}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.88rem}
pre{overflow-x:auto;padding:.8rem;border:1px solid var(--line);border-radius:8px;background:var(--bg);white-space:pre}
summary{cursor:pointer;color:var(--accent);padding:.3rem 0}
svg.chart{display:block;width:100%;height:auto;max-width:44rem;margin:.3rem 0}
svg text{font:12px system-ui,sans-serif;fill:var(--dim)}
svg .bar,svg .d3{fill:var(--d3)}svg .hot{fill:var(--hot)}svg .track{fill:var(--line)}
svg .d0{fill:var(--d0)}svg .d1{fill:var(--d1)}svg .d2{fill:var(--d2)}svg .d4{fill:var(--d4)}
svg .mark{stroke:var(--hot);stroke-width:1.5;stroke-dasharray:4 3}svg .grid{stroke:var(--line)}
svg .frame{fill:none;stroke:var(--line)}svg .curve{fill:none;stroke:var(--accent);stroke-width:1.8}
svg .point{fill:var(--accent)}
svg.share{width:3.5rem;height:.5rem;margin-right:.4rem;vertical-align:middle}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1rem;color:var(--dim);
font-size:.88rem;padding:0;margin:.3rem 0;list-style:none}
.key span{display:inline-block;width:.8rem;height:.8rem;border-radius:50%;margin-right:.35rem;vertical-align:-.05rem}
.k0{background:var(--d0)}.k2{background:var(--d2)}.k4{background:var(--d4)}.kh{background:var(--hot)}
footer{color:var(--dim);font-size:.88rem;margin:1rem 0}
@media (max-width:40rem){body{padding:.6rem}section{padding:.8rem}table.stack thead{position:absolute;left:-999rem}
table.stack tr{display:block;border-bottom:1px solid var(--line);padding:.5rem 0}
table.stack th,table.stack td{display:block;border:0;padding:.1rem 0;text-align:left}
table.stack td:not(.long){display:inline-block;margin-right:1rem}table.stack td:empty{display:none}
table.stack td[data-name]:not(.long)::before{content:attr(data-name) " ";color:var(--dim);font-weight:400}
svg text{font-size:18px}}
@media print{body{max-width:none}section{break-inside:avoid}details>*{display:block}}
"""

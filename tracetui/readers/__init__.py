"""Temporary whole-file reader (json with Decimal), to unblock the others."""
import gzip, json
from decimal import Decimal
from pathlib import Path
from tracetui.model.builder import *
from tracetui.model.builder import event_block
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.slices import SliceFlag
from tracetui.model.trace import Origin
import numpy as np
def ns(v):
    return int((Decimal(str(v))*1000).to_integral_value())
def i(v, d=-1):
    try: return int(v)
    except (TypeError, ValueError): return d
class Details:
    def __init__(self, ev): self.ev=ev
    def event(self, k): return self.ev[k] if 0<=k<len(self.ev) else None
def read_trace(path, publish=None, stop=None, *, use_cache=True):
    raw=Path(path).read_bytes()
    gz=raw[:2]==b"\x1f\x8b"
    if gz: raw=gzip.decompress(raw)
    d=json.loads(raw, parse_float=Decimal)
    ev=d if isinstance(d,list) else d["traceEvents"]
    b=TraceBuilder(); b.details=Details(ev)
    if isinstance(d,dict):
        b.metadata={k:v for k,v in d.items() if k!="traceEvents"}
        b.base_ns=i(d.get("baseTimeNanoseconds"),0)
        b.devices=tuple(DeviceSpec(i(p.get("id"),0),str(p.get("name","")),p.get("totalGlobalMem"),p.get("computeMajor"),p.get("computeMinor"),p.get("numSms")) for p in d.get("deviceProperties") or [])
    rows=[]; fl=[]; shapes={}; geos={}
    for n,e in enumerate(ev):
        b.report.n_events+=1
        ph=e.get("ph"); a=e.get("args") or {}; cat=str(e.get("cat") or ""); nm=str(e.get("name")); pid=str(e.get("pid","")); tid=str(e.get("tid",""))
        if ph=="M":
            t=b.thread_names
            if nm=="process_name": t.process_name[pid]=str(a.get("name"))
            if nm=="process_labels": t.process_labels[pid]=str(a.get("labels"))
            if nm=="process_sort_index": t.process_sort[pid]=i(a.get("sort_index"),0)
            if nm=="thread_name": t.thread_name[pid,tid]=str(a.get("name"))
            if nm=="thread_sort_index": t.thread_sort[pid,tid]=i(a.get("sort_index"),0)
            continue
        if ph not in "XBEsftiIC": b.report.other_phases[ph]+=1; continue
        ts=ns(e["ts"]); key=b.key(EventKey(cat,nm,pid,tid))
        if ph=="X":
            b.report.n_complete+=1
            r={"key":key,"ts_ns":ts,"dur_ns":max(ns(e.get("dur",0)),0),"event_id":n,"correlation":i(a.get("correlation"),0),"external_id":i(a.get("External id",a.get("external id")),0),"n_bytes":i(a.get("bytes")),"python_id":i(a.get("Python id")),"python_parent_id":i(a.get("Python parent id")),"sequence":i(a.get("Sequence number"))}
            s=a.get("Input Dims",a.get("Input dims"))
            if s is not None: r["shape_id"]=shapes.setdefault(json.dumps(s,separators=(",",":")),len(shapes))
            if "grid" in a and cat.lower()=="kernel":
                o=a.get("est. achieved occupancy %", a.get("theoretical occupancy %"))
                g=Geometry(tuple(a["grid"]),tuple(a["block"]),a.get("registers per thread"),a.get("shared memory"),None if o is None else float(o)/100,float(a.get("blocks per SM",0)),float(a.get("warps per SM",0)))
                r["geometry_id"]=geos.setdefault(g,len(geos))
            rows.append(r)
        elif ph in "sf": fl.append((key,i(e.get("id"),0),ts,ph=="s")); b.report.n_flows+=1
        elif ph in "BE": b.begin_ends.append(BeginEnd(ph=="B",key,ts,n))
        elif ph in "iI":
            if nm=="[memory]": b.memory.append(MemoryRow(key,ts,i(a.get("Bytes"),0),i(a.get("Total Allocated")),i(a.get("Total Reserved")),i(a.get("Device Type"),0),i(a.get("Device Id"))))
            else: b.instants.append(InstantRow(key,ts,n))
        elif ph=="C":
            for k,v in a.items(): b.counters.append(CounterRow(f"{nm}: {k}",ts,float(v)))
    b.shapes=list(shapes); b.geometries=list(geos)
    b.blocks.append(event_block(rows))
    if fl:
        k,f,t,s=zip(*fl); b.flow_blocks.append(FlowBlock(np.array(k,np.int32),np.array(f,np.int64),np.array(t,np.int64),np.array(s,bool)))
    return b.build(Origin(str(path),len(raw),"Chrome trace","torch.profiler",gz))

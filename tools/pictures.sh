#!/bin/sh
# usage: tools/pictures.sh DAEDALUS [OUT]
# The figures of the documents, one for each problem page: OUT/NAME.svg (docs/images/problems). `make pictures`.
daedalus=$(realpath "$1") out=$(realpath "${2:-docs/images/problems}")
mkdir -p "$out" || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
bad=0
trajectory() { # problem, options of run: NAME.csv
    name=$1
    shift
    "$daedalus" run "$name" --quiet --out "$name.csv" "$@" || { echo "pictures: $name failed"; bad=1; }
}
picture() { # name of the picture, files and options of plot
    case $1 in *.png) target=$out/$1 ;; *) target=$out/$1.svg ;; esac
    shift
    "$daedalus" plot "$@" --out "$target" --quiet || { echo "pictures: $target failed"; bad=1; }
}

trajectory hires
picture hires hires.csv --title "HIRES: all eight components (II-1)"
trajectory pollu
picture pollu pollu.csv --to 12 --y NO2,NO,O3P,O3,HO2,OH --title "Pollution: the first six species on [0, 12] (figure II.2.2)"
trajectory ringmod --points 2000
picture ringmod ringmod.csv --y U1,U2,U7,I1 --title "Ring modulator (II-3)"
trajectory medakzo --points 200
picture medakzo.png medakzo.csv --kind surface --y 'u*' --title "Medical Akzo Nobel: u over time and space (figure II.4.1)"
picture medakzo-v.png medakzo.csv --kind map --y 'v*' --title "Medical Akzo Nobel: v over time and space, as a map (figure II.4.1)"
trajectory emep --points 1500
picture emep emep.csv --y NO,NO2,O3,HO2,OH,N2O5 --title "EMEP: behavior over the interval (figure II.5.1)"
trajectory plei --points 800
picture plei plei.csv --to 2 --kind paths --x x1,x3 --y y1,y3 --title "Pleiades: paths of the first and third body on [0, 2] (figure II.6.1)"
trajectory beam --points 1500
picture beam beam.csv --y z10,z20,z30,z40 --title "Beam: z10, z20, z30, z40 (figure II.7.1)"
picture beam-shapes beam.csv --kind shapes --y 'z*' --at 0,1,2,3,4,5 --title "Beam: angles z1 ... z80 along the beam at t = 0, 1, ..., 5"
for start in 2,0 0.1,0 -3,2 3,-3 0,3; do
    y=${start#*,} x=${start%,*}
    "$daedalus" run vdpol-mu --set mu=2 --init y1=$x --init y2=$y --tend 20 --points 4000 --rtol 1e-6 --atol 1e-6 --quiet --out "$start.csv" || bad=1
done
picture vdpol-mu ./2,0.csv ./0.1,0.csv ./-3,2.csv ./3,-3.csv ./0,3.csv --x y1 --y y2 --title "Van der Pol, mu = 2: limit cycle from five starts (figure II.8.2)"
trajectory vdpol-mu
picture vdpol-mu-y1 vdpol-mu.csv --y y1 --title "Van der Pol, mu = 1000: y1 (figure II.8.4)"
trajectory vdpol-eps
picture vdpol-eps vdpol-eps.csv --y y1 --title "Van der Pol, scaled: y1 (figure II.8.5)"
"$daedalus" run vdpol-mu --solver vode --quiet --steps vdpol-steps.csv || bad=1
picture vdpol-mu-steps vdpol-steps.csv --log y --title "Van der Pol, mu = 1000, by vode: size and order of the steps"
trajectory orego
picture orego orego.csv --log y --title "Oregonator (figures II.9.1 to II.9.3)"
trajectory rober
picture rober rober.csv --log x --title "Robertson on [0, 1e11] (figure II.10.1)"
trajectory e5 --atol 1e-24
picture e5 e5.csv --log xy --title "E5, double logarithmic (figure II.11.1)"
trajectory chemakzo
picture chemakzo chemakzo.csv --title "Chemical Akzo Nobel (II-12)"
trajectory andrews --points 1500
picture andrews andrews.csv --y q1,q2,q3,q4,q5,q6,q7 --modulo 'q*' --title "Andrews: positions modulo 2 pi (figure II.13.1)"
trajectory seven-body --points 1500
picture seven-body seven-body.csv --title "Seven body mechanism"
trajectory transamp --points 2000
picture transamp transamp.csv --y U1,U5,U8 --title "Transistor amplifier: input node, first stage, output (figure II.14.3)"
trajectory pump --points 2000
picture pump pump.csv --y U1,U2,U3,I --title "Charge pump (II-15)"
trajectory tba --rtol 1e-4 --atol 1e-4 --points 700
picture tba tba.csv --y V1,V2,V3,V4,Cin,S0,S1,notC --apart --title "Two bit adder: inputs, and outputs S0, S1, C (figures II.16.4 to II.16.6)"
trajectory caraxis --rtol 1e-8 --atol 1e-8 --points 1500
picture caraxis caraxis.csv --y xl,yl,xr,yr --title "Car axis: both ends of the bar (figure II.17.2)"
trajectory fekete
picture fekete fekete.csv --kind sphere --y "$(seq -s, 1 60 | sed 's/[0-9][0-9]*/p&/g')" --title "Fekete points, N = 20, at rest (figure II.18.1)"
trajectory crank --rtol 1e-6 --atol 1e-6 --points 1500
picture crank crank.csv --y phi2,x3,q1,q2,q3,q4 --title "Slider crank (figure II.19.4)"
trajectory water --points 1500
picture water water.csv --from 6878 --to 61200 --y in_1,in_13,out_10,phi_3_4 --title "Water tubes: what flows in and out, and phi 3,4 on 6878 < t < 17 h (figure II.20.5)"
trajectory nand --points 1500
picture nand nand.csv --y V1,V2,U5 --apart --title "NAND gate: inputs V1, V2 and output U5 (figures II.21.2, II.21.4)"
trajectory wheel --points 1500
picture wheel wheel.csv --title "Wheelset: hunting (figure II.22.5)"
trajectory insulator-chain --tend 0.15 --points 301
picture insulator-chain insulator-chain.csv --kind shapes --x 'x*' --y 'y*' --at "$(seq -s, 0 0.01 0.15)" \
    --title "Insulator chain from 0 to 0.15 s in steps of 0.01 s ([MEXX] figure 5.4)"
trajectory cable-drum --points 800
picture cable-drum cable-drum.csv --y y1,alpha2,vy1,omega2 --title "Cable drum: load and drum ([MEXX] section 5.1)"
trajectory truck --points 800
picture truck truck.csv --y p1,p2,p4,p9,v9 --title "Truck on a sine road: axles, pitch of the chassis, seat ([MEXX] section 5.3)"
trajectory double-pendulum --points 1500
picture double-pendulum double-pendulum.csv --y theta1,omega1 --title "Double pendulum: theta 1 and its velocity ([RNY] figure 2)"
trajectory hmmwv --points 1500
picture hmmwv hmmwv.csv --y chassis.z --title "HMMWV: height of the chassis ([RNY] figure 4)"
"$daedalus" run hmmwv --solver wnys2 --formulation statespace --quiet --steps hmmwv-steps.csv || bad=1
picture hmmwv-steps hmmwv-steps.csv --y h --title "HMMWV: size of the steps of wnys2 ([RNY] figure 4)"
exit $bad
